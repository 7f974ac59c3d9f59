// What sites have watched of their own decisions: predictions against rewards, exploring, and a control group.

import { count, many, mean, percent, siteName } from "./words.js";

export const WATCHED = ["Site", "Rewards", "Predicted", "Received", "Difference", "Explored", "Control", "Gain over control"];

const signed = (number) => (number > 0 ? "+" : "") + mean(number);

export function watchedRow(site) {
  const { rows, predicted, reward, error, explored, control } = site.reported.watched;
  const known = predicted !== null;
  return [
    siteName(site), count(rows), known ? mean(predicted) : "none yet", known ? mean(reward) : "none yet",
    known ? `${signed(reward - predicted)} ± ${mean(error)}` : "none yet", explored === null ? "not known" : percent(explored),
    control === null ? "none" : `${percent(control.share)}, ${many(control.with_control, "reward")}`, control === null ? "" : difference(control),
  ];
}

function difference(control) {
  if (control.difference === null) return "not known yet";
  if (control.interval === null) return `${signed(control.difference)}, too few to tell`;
  const [low, high] = control.interval;
  return `${signed(control.difference)} (${signed(low)} to ${signed(high)})`;
}
