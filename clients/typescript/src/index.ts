export { Policy } from "./policy.js";
export { Site, SiteError } from "./site.js";
export type { Decision, Offer, Reward, SiteState, Value, Values } from "./site.js";
