// Numbers, times and states in words.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const precise = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const scientific = new Intl.NumberFormat("en", { notation: "scientific", maximumSignificantDigits: 3 });

// Numbers that a site can claim but nobody can have counted are not written out.
const within = (format) => (number) => (Math.abs(number) < 1e15 ? format : scientific).format(number);

export const count = (number) => within(Math.abs(number) < 100_000 ? whole : short)(number);
export const value = (number) => within(precise)(number).replace("-", "−");
export const mean = (number) => (Math.abs(number) < 10 ? number.toFixed(3) : within(precise)(number)).replace("-", "−");
export const percent = (share) => `${share > 0 && share < 0.01 ? "<1" : Math.round(100 * share)} %`;

export function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  for (; number >= 1000 && unit < units.length - 1; unit++) number /= 1000;
  return `${unit ? within(precise)(number) : whole.format(number)} ${units[unit]}`;
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

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

export const siteName = (site) => site.name || `site ${site.site}`;

export const STATES = {
  trouble: "trouble",
  current: "up to date",
  behind: "behind",
  silent: "silent",
  new: "not heard from yet",
  gone: "left, or cut off",
};

// How a federation is, in one sentence, and how much of a worry that is.
export function verdict(federation) {
  const { states, silent_after: patience } = federation;
  const clients = federation.clients - states.gone;
  const of = `of ${many(clients, "site")}`;
  if (!clients)
    return ["new", "All sites have left, or were cut off."];
  if (states.new === clients)
    return ["new", `No site has connected yet: the coordinator waits for ${many(clients, "site")}.`];
  if (federation.concerns.some((each) => each.grave))
    return ["grave", "The coordinator cannot do its work."];
  if (states.trouble)
    return ["trouble", `${count(states.trouble)} ${of} ${states.trouble === 1 ? "is" : "are"} in trouble: see what is said below.`];
  if (federation.concerns.length)
    return ["trouble", "Something calls for attention: see what is said below."];
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
