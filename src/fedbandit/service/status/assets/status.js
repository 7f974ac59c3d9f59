// The status page: asks for the telemetry every other second and writes it into the page.

import { Chart, element } from "./charts.js";
import { ARMS, BYTES, MESSAGES, REWARD } from "./figures.js";
import { byId, concernLines, fill, follow, list, tile, write } from "./page.js";
import { ago, bytes, count, duration, many, mean, percent, siteName, STATES, verdict } from "./words.js";
import { WATCHED, watchedRow } from "./watched.js";

const MOST_LINES = 12; // reporting sites that get a line of their own
const STANDBY = "Standby: another coordinator serves the federations. This one waits, and takes over when that one ends or " +
  "shows no sign of life.";
const shown = new Map(); // federations on the page, by name

class Federation {
  constructor(name) {
    this.section = byId("federation").content.cloneNode(true).firstElementChild;
    this.section.id = `federation-${name}`;
    this.part = (is) => this.section.querySelector(`[data-is="${is}"]`);
    write(this.part("name"), name);
    this.part("sites-table").setAttribute("aria-label", `Sites of ${name}`);
    this.part("watched-table").setAttribute("aria-label", `Predictions and rewards at sites of ${name}`);
    this.charts = { messages: new Chart(MESSAGES), bytes: new Chart(BYTES), reward: new Chart(REWARD), arms: new Chart(ARMS) };
    this.part("charts").append(...Object.values(this.charts).map((chart) => chart.figure));
    this.colours = new Map(); // of arms
  }

  update(told) {
    write(this.part("charter"), `${told.algorithm}, counted for ${duration(told.now - told.began)}`);
    const [mood, sentence] = verdict(told);
    this.part("verdict").dataset.state = mood;
    write(this.part("verdict").querySelector(".words"), sentence);
    const untouched = told.states.new === told.clients && !told.totals.refused;
    this.section.classList.toggle("untouched", untouched);
    if (untouched) write(this.part("example"), example(told));
    this.concerns(told);
    this.tiles(told);
    this.draw(told);
    this.table(told);
    this.watched(told);
    this.incidents(told);
  }

  concerns(told) {
    const names = new Map(told.sites.map((site) => [site.site, siteName(site)]));
    const lines = concernLines(told.concerns, told.now, (each) =>
      `${each.site === null ? "the whole federation" : names.get(each.site) || `site ${each.site}`}, `);
    const hidden = told.concerns_open - told.concerns.length;
    if (hidden) lines.push(element("li", {}, element("p", { class: "note" }, `and ${many(hidden, "other")}`)));
    this.section.querySelector(".concerns").hidden = !lines.length;
    this.part("concerns").replaceChildren(...lines);
  }

  tiles(told) {
    const { totals, states, clients } = told;
    const recent = told.traffic.filter((each) => each.at >= told.now - 60 && told.width < 60);
    const rate = (key) => told.width < 60 ? `${count(recent.reduce((sum, each) => sum + (each.sums[key] || 0), 0))} in the last minute` : "";
    const tiles = [
      ["Sites heard from", `${count(clients - states.new)} / ${count(clients)}`, told.reporting ? `${count(told.reporting)} report arms and reward` : "none reports arms and reward"],
      ["Uploads", count(totals.uploads), rate("uploads")],
      ["Downloads", count(totals.downloads), rate("downloads")],
      ["Travelled", bytes(totals.bytes_up + totals.bytes_down), `${bytes(totals.bytes_up)} up, ${bytes(totals.bytes_down)} down`],
      ["Model version", told.version ? count(told.version) : "none yet", "the newest that was sent"],
      ["Refused", count(totals.refused), totals.refused ? "see below why" : "no bad message so far"],
    ];
    this.part("tiles").replaceChildren(...tiles.map((each) => tile(each, each[0] === "Refused" && totals.refused)));
  }

  draw(told) {
    const from = Math.max(told.now - told.span, Math.min(told.began, told.now - 60));
    const time = { from, to: told.now, width: told.width, arms: told.arms, colours: this.colours, reporting: told.reporting };
    const within = (buckets) => buckets.filter((each) => each.at + told.width > from);
    const reporting = told.sites.filter((site) => site.reported);
    const sites = told.reporting <= MOST_LINES ? reporting.map((site) => site.reported.history) : [];
    this.charts.messages.update({ ...time, buckets: within(told.traffic).filter(({ sums }) => sums.uploads || sums.downloads) });
    this.charts.bytes.update({ ...time, buckets: within(told.traffic) });
    this.charts.reward.update({ ...time, sites, buckets: within(told.rewards_over_time).filter(({ sums }) => sums.rewards) });
    this.charts.arms.update({ ...time, buckets: within(told.arms_over_time) });
  }

  table(told) {
    const columns = ["Site", "State", "Last contact", "Version", "Lag", "Waiting", "Uploads", "Share", "Downloads", "Bytes up", "Bytes down"];
    if (told.sites.some((site) => site.peers !== null)) columns.push("Peers");
    if (told.revision) columns.push("Revision");
    if (told.reporting) columns.push("Decisions", "Mean reward");
    fill(this.part("sites-table"), columns, told.sites.map((site) => row(site, told, columns)),
      { states: told.sites.map((site) => site.state), links: told.sites.map((site) => address(told, site)) });
    const hidden = told.clients - told.sites.length;
    write(this.part("sites-note"), (hidden ? `${count(told.sites.length)} of ${count(told.clients)}, those that need attention first. ` : "") +
      "A model that would tell a site nothing new is not sent to it, so versions may differ. Waiting are uploads that the " +
      "site has and that are not acknowledged; share is its part in the observations behind the model." +
      (columns.includes("Peers") ? " Peers are the other sites whose observations it is sent: one without any differs from all others, which may well be right." : "") +
      (told.revision ? ` What was agreed on has changed ${many(told.revision, "time")}: a site takes a change up when it hears of it.` : ""));
  }

  watched(told) {
    const watching = told.sites.filter((site) => site.reported?.watched);
    this.part("watched").hidden = !watching.length;
    if (watching.length) fill(this.part("watched-table"), WATCHED, watching.map(watchedRow), { links: watching.map((site) => address(told, site)) });
  }

  incidents(told) {
    const parts = [];
    if (told.refusals.length)
      parts.push(list("Refused", told.refusals.map((refusal) =>
        `${many(refusal.count, "time")}, last ${ago(told.now - refusal.at)} from ${refusal.site < 0 ? "someone unknown" : `site ${refusal.site}`}: ${refusal.reason}`)));
    if (told.rounds_cut.length)
      parts.push(list("Rounds closed by their deadline", told.rounds_cut.slice(-5).reverse().map((round) =>
        `${ago(told.now - round.at)}, without site ${round.left_out.join(", ")}; their data wait for the next round`)));
    this.part("incidents").replaceChildren(...parts);
  }
}

// Where a site has a page of its own; a name that looks like a number would be taken for one.
const address = (told, site) =>
  `sites/${encodeURIComponent(told.name)}/${encodeURIComponent(site.name && !/^\d+$/.test(site.name) ? site.name : site.site)}`;

function example({ name, algorithm, clients }) {
  return `import fedbandit as fb\n\nsite = fb.Site("${algorithm}", dimension=…, clients=${clients}, number=0, store="site.db")\n` +
    `site.connect("nats://BROKER:4222/${name}")\n\ndecision = site.choose(arms)\nsite.learn(decision.id, reward)`;
}

function row(site, told, columns) {
  const report = site.reported;
  const heard = site.last_contact !== null;
  const lag = site.versions_behind
    ? site.state === "current" ? `${count(site.version_sent)} on its way` : `${many(site.versions_behind, "version")}, ${duration(site.seconds_behind, true)}`
    : "none";
  const cells = [
    siteName(site), STATES[site.state], heard ? ago(told.now - site.last_contact, true) : "never",
    site.version ? count(site.version) : "none yet", heard ? lag : "unknown",
    site.backlog === null ? "not told" : count(site.backlog), count(site.uploads),
    site.share === null ? "none" : percent(site.share), count(site.downloads), bytes(site.bytes_up), bytes(site.bytes_down),
  ];
  if (columns.includes("Peers")) cells.push(count(site.peers));
  if (columns.includes("Revision")) cells.push(site.revision === null ? "not told" : count(site.revision));
  if (told.reporting)
    cells.push(report ? count(report.decisions) : "not reported",
      report ? (report.rewards ? mean(report.reward_sum / report.rewards) : "none yet") : "not reported");
  return cells;
}

function show(status) {
  const names = status.federations.map((each) => each.name);
  if ([...shown.keys()].join() !== names.join()) {
    shown.clear();
    names.forEach((name) => shown.set(name, new Federation(name)));
    byId("federations").replaceChildren(...[...shown.values()].map((each) => each.section));
    byId("contents").hidden = names.length < 2;
    byId("contents").replaceChildren(...names.map((name) => element("a", { href: `#federation-${name}` }, name)));
  }
  status.federations.forEach((told) => shown.get(told.name).update(told));
  if (!names.length) write(byId("federations"), status.role === "standby" ? STANDBY :
    "This coordinator serves no federation: add a table [federations.NAME] to its file.");
  const worries = status.federations.reduce((sum, each) => sum + each.states.trouble + each.states.silent + each.states.behind +
    each.concerns.filter(({ site }) => site === null).length, 0);
  document.title = worries ? `(${worries}) fedbandit` : "fedbandit";
}

follow("status.json", show);
