// The page of one site: asks for what is told of it every other second and writes it into the page.

import { Chart } from "./charts.js";
import { BYTES, MESSAGES, REWARD } from "./figures.js";
import { byId, concernLines, fill, follow, list, tile, write } from "./page.js";
import { ago, bytes, count, duration, many, percent, siteName, STATES } from "./words.js";
import { WATCHED, watchedRow } from "./watched.js";

const ADDRESS = `${location.pathname.replace(/\/$/, "")}/status.json`;
const charts = {
  messages: new Chart({ ...MESSAGES, sentence: "Statistics from the site above the line, models to it below." }),
  bytes: new Chart(BYTES),
  reward: new Chart({ ...REWARD, sentence: "Average of the rewards that the site reports.",
    nothing: (data) => data.reporting ? "No reward has been reported yet." : "The site has not opted in: one that is opened with report=True is shown here." }),
};
byId("charts").prepend(...Object.values(charts).map((chart) => chart.figure));
byId("json").href = ADDRESS;

function verdict({ site, now }) {
  return {
    trouble: "The site is in trouble: see what is said below.",
    current: "The site is up to date.",
    behind: `The site has not confirmed the latest model for ${duration(site.seconds_behind)}.`,
    silent: `The site has been silent for ${duration(now - site.last_contact)}. What it has learnt waits with it and comes when it is back.`,
    new: "The site has not been heard from yet.",
    gone: "The site has left, or was cut off.",
  }[site.state];
}

function tiles(told) {
  const { site, now } = told;
  const heard = site.last_contact !== null;
  const lag = site.versions_behind ? `${many(site.versions_behind, "version")} on the way or not confirmed` : "the newest that was sent to it";
  const drift = Object.entries(site.reported?.drift || {}).filter(([, times]) => times);
  const found = [
    ["Last contact", heard ? ago(now - site.last_contact, true) : "never", heard ? `for the first time ${ago(now - site.first_contact, true)}` : ""],
    ["Model version", site.version ? count(site.version) : "none yet", site.version ? lag : `the newest of all is ${told.version || "none yet"}`],
    ["Uploads", count(site.uploads), site.repeated ? `${many(site.repeated, "frame")} came again, and changed nothing` : "none came twice"],
    ["Share", site.share === null ? "none" : percent(site.share), `of all observations: ${count(site.observations)}`],
    ["Waiting", site.backlog === null ? "not told" : count(site.backlog), "uploads that are not acknowledged"],
    ["Refused", count(site.refused), site.refused ? "see below why" : "no bad message so far"],
    ["Travelled", bytes(site.bytes_up + site.bytes_down), `${bytes(site.bytes_up)} up, ${bytes(site.bytes_down)} down`],
    ["Downloads", count(site.downloads), site.left_out ? `${many(site.left_out, "round")} closed without it` : "models that were sent to it"],
  ];
  if (told.revision) found.push(["Revision", site.revision === null ? "not told" : count(site.revision), `of what was agreed on; the last is ${count(told.revision)}`]);
  if (site.peers !== null) found.push(["Peers", count(site.peers), "other sites whose observations it is sent"]);
  if (site.reported)
    found.push(["Decisions", count(site.reported.decisions), `${many(site.reported.rewards, "reward")} have come`],
      ["Drift", drift.length ? many(drift.reduce((sum, [, times]) => sum + times, 0), "alarm") : "none",
        drift.length ? `of its ${drift.map(([kind]) => kind).join(" and ")}` : "no alarm since it was opened"]);
  byId("tiles").replaceChildren(...found.map((each) =>
    tile(each, (each[0] === "Refused" && site.refused) || (each[0] === "Drift" && drift.length))));
}

function draw(told) {
  const from = Math.max(told.now - told.span, Math.min(told.began, told.now - 60));
  const time = { from, to: told.now, width: told.width, reporting: told.site.reported ? 1 : 0, sites: [] };
  const within = (buckets) => buckets.filter((each) => each.at + told.width > from);
  const traffic = within(told.traffic || []);
  byId("no-history").hidden = told.traffic !== null || told.site.state === "new";
  charts.messages.update({ ...time, buckets: traffic.filter(({ sums }) => sums.uploads || sums.downloads) });
  charts.bytes.update({ ...time, buckets: traffic });
  charts.reward.update({ ...time, buckets: within(told.site.reported?.history || []).filter(({ sums }) => sums.rewards) });
}

function tables({ site }) {
  const watched = Boolean(site.reported?.watched);
  byId("watched").hidden = !watched;
  if (watched) fill(byId("watched-table"), WATCHED, [watchedRow(site)]);
  const arms = Object.entries(site.reported?.arms || {}).sort((one, other) => other[1] - one[1]);
  const all = arms.reduce((sum, [, times]) => sum + times, 0);
  byId("arms").hidden = !all;
  fill(byId("arms-table"), ["Arm", "Chosen", "Share"], arms.map(([arm, times]) => [arm || "all others", count(times), percent(times / all)]));
}

function incidents(told) {
  const parts = [];
  if (told.refusals.length)
    parts.push(list("Refused last, by kind of reason", told.refusals.map((each) => `${ago(told.now - each.at)}: ${each.reason}`)));
  if (told.rounds_cut.length)
    parts.push(list("Rounds that were closed without it", told.rounds_cut.slice(-5).reverse().map((round) =>
      `${ago(told.now - round.at)}; its data wait for the next round`)));
  byId("incidents").replaceChildren(...parts);
}

follow(ADDRESS, ({ told }) => {
  const name = siteName(told.site);
  document.title = `${told.site.state === "current" ? "" : `${STATES[told.site.state]}: `}${name} · fedbandit`;
  write(byId("name"), name);
  write(byId("charter"), `${told.site.name ? `site ${told.site.site} of ` : "of "}${told.federation}, ${told.algorithm}`);
  byId("verdict").dataset.state = told.site.state;
  write(byId("verdict").querySelector(".words"), verdict(told));
  byId("back").href = `../../#federation-${told.federation}`;
  write(byId("back"), `← all sites of ${told.federation}`);
  const lines = concernLines(told.concerns, told.now, () => "");
  document.querySelector(".concerns").hidden = !lines.length;
  byId("concerns").replaceChildren(...lines);
  tiles(told);
  draw(told);
  tables(told);
  incidents(told);
});
