// What the pages have in common: they ask every other second, say whether anybody answers, and write tables and lists.

import { element } from "./charts.js";
import { ago, sentence } from "./words.js";

const EVERY = 2000; // milliseconds

export const byId = (id) => document.getElementById(id);

export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Write a table; with states, its second column has a mark; with links, its first one leads there.
export function fill(table, columns, rows, { states = null, links = null } = {}) {
  const head = table.tHead.rows[0];
  if (head.dataset.columns !== columns.join()) {
    head.dataset.columns = columns.join();
    head.replaceChildren(...columns.map((each) => element("th", { scope: "col", role: "columnheader" }, each)));
  }
  const body = table.tBodies[0];
  rows.forEach((cells, at) => {
    const line = body.rows[at] || body.insertRow();
    line.setAttribute("role", "row");
    if (states) line.dataset.state = states[at];
    cells.forEach((text, place) => {
      let cell = line.cells[place];
      if (!cell) {
        cell = element(place ? "td" : "th", place ? { role: "cell" } : { scope: "row", role: "rowheader" });
        line.append(cell);
      }
      cell.dataset.label = columns[place];
      const marked = states && place === 1;
      if (marked && !cell.firstChild) cell.append(element("span", { class: "mark", "aria-hidden": "true" }), element("span"));
      if (links && !place) {
        if (!cell.firstChild) cell.append(element("a"));
        if (cell.firstChild.getAttribute("href") !== links[at]) cell.firstChild.setAttribute("href", links[at]);
      }
      write(marked ? cell.lastChild : links && !place ? cell.firstChild : cell, text);
    });
  });
  while (body.rows.length > rows.length) body.deleteRow(-1);
}

export function list(title, sentences) {
  return element("div", {}, element("h3", {}, title), element("ul", {}, ...sentences.map((each) => element("li", {}, each))));
}

export function tile([name, amount, more], bad = false) {
  return element("div", bad ? { class: "bad" } : {},
    element("dt", {}, name), element("dd", { class: "amount" }, amount), element("dd", { class: "note" }, more));
}

// What calls for attention, as lines of a list; `who` names the site of a concern.
export const concernLines = (concerns, now, who) => concerns.map((each) =>
  element("li", { "data-state": each.grave ? "grave" : "trouble" },
    element("span", { class: "mark", "aria-hidden": "true" }), element("p", {}, sentence(each.text)),
    element("p", { class: "note" }, `${who(each)}since ${new Date(each.since * 1000).toLocaleString()} (${ago(now - each.since, true)})`)));

function say(problem) {
  byId("banner").hidden = !problem;
  write(byId("banner"), problem);
}

// Ask for the telemetry at an address, again and again, and show it.
export function follow(address, show) {
  let heard = null; // when the coordinator last answered
  let timer = null;

  async function ask() {
    clearTimeout(timer);
    const span = document.querySelector("input[name=span]:checked").value;
    try {
      const answer = await fetch(`${address}?span=${span}`, { signal: AbortSignal.timeout(10_000) });
      if (!answer.ok) throw new Error(answer.statusText);
      const status = await answer.json();
      show(status);
      heard = Date.now();
      byId("live").dataset.state = "current";
      write(byId("live-words"), "live");
      write(byId("version"), `fedbandit ${status.version}`);
      say(status.problem ? `The ${status.role === "standby" ? "standby" : "coordinator"} is not ready: ${status.problem}` : "");
    } catch (error) {
      byId("live").dataset.state = "silent";
      write(byId("live-words"), "no answer");
      const since = heard === null ? "" : ` since ${new Date(heard).toLocaleTimeString()}; below is what was known then`;
      say(`The coordinator has not answered${since}. This page goes on asking.`);
      console.error(error);
    }
    if (!document.hidden) timer = setTimeout(ask, EVERY);
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  document.querySelectorAll("input[name=span]").forEach((each) => each.addEventListener("change", ask));
  ask();
}
