export { Features } from "./features.js";
export { Policy } from "./policy.js";
export type { Offered } from "./policy.js";
export { Site, SiteError } from "./site.js";
export type { Decision, Offer, Reward, SiteState, Value, Values } from "./site.js";
