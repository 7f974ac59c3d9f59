// Numbers, times and states in words.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const precise = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const count = (number) => (Math.abs(number) < 100_000 ? whole.format(number) : short.format(number));
export const value = (number) => precise.format(number).replace("-", "−");
export const mean = (number) => (Math.abs(number) < 10 ? number.toFixed(3) : precise.format(number)).replace("-", "−");
export const percent = (share) => `${share > 0 && share < 0.01 ? "<1" : Math.round(100 * share)} %`;

export function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  for (; number >= 1000 && unit < units.length - 1; unit++) number /= 1000;
  return `${unit ? precise.format(number) : whole.format(number)} ${units[unit]}`;
}

export function duration(seconds, roughly = false) {
  const steps = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const at = steps.findIndex(([, size]) => seconds >= size);
  if (at < 0) return "0 s";
  const [unit, size] = steps[at];
  const first = Math.floor(seconds / size);
  const next = steps[at + 1];
  const rest = next ? Math.floor((seconds - first * size) / next[1]) : 0;
  return first < 10 && !roughly && rest && unit !== "s" ? `${first} ${unit} ${rest} ${next[0]}` : `${first} ${unit}`;
}

export const ago = (seconds, roughly) => (seconds < 3 ? "just now" : `${duration(seconds, roughly)} ago`);

export const many = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;

export const siteName = (site) => site.name || `site ${site.site}`;

export const STATES = {
  current: "up to date",
  behind: "behind",
  silent: "silent",
  new: "not heard from yet",
};

// How a federation is, in one sentence, and how much of a worry that is.
export function verdict(federation) {
  const { states, clients, silent_after: patience } = federation;
  const of = `of ${many(clients, "site")}`;
  if (states.new === clients)
    return ["new", `No site has connected yet: the coordinator waits for ${many(clients, "site")}.`];
  if (states.silent)
    return ["silent", `${count(states.silent)} ${of} ${states.silent === 1 ? "has" : "have"} been silent for more than ` +
      `${duration(patience)}. What they have learnt waits with them and comes when they are back.`];
  if (states.behind)
    return ["behind", `${count(states.behind)} ${of} ${states.behind === 1 ? "has" : "have"} not confirmed the latest ` +
      `model for more than ${duration(patience)}.`];
  if (states.new)
    return ["new", `${count(states.current)} ${of} are up to date; ${count(states.new)} not heard from yet.`];
  return ["current", clients === 1 ? "The one site is up to date." : `All ${count(clients)} sites are up to date.`];
}
