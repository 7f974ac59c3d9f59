// Charts in SVG, drawn anew with each update. A chart is a figure with a title, a reading line that is also its
// legend, and a drawing; pointing at it, or moving through it with the arrow keys, reads one moment instead of all.

import { ago, duration } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 190;
const EDGE = { top: 8, right: 2, bottom: 22, left: 52 };

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawn(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Numbers for an axis: few, round, from below the least to above the most, and none closer than the finest step.
function ticks(least, most, wanted, finest = 0) {
  const rough = (most - least > 1e-300 ? most - least : 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(finest, power * [1, 2, 5, 10].find((each) => each * power >= rough));
  const first = Math.floor(least / step + 1e-9);
  const last = Math.ceil(most / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}

export class Chart {
  // `about` has a title, a sentence, `marks(data)` giving {low, high, label, draw}, and `reading(data, buckets, isAll)`.
  constructor(about) {
    this.about = about;
    this.reading = element("p", { class: "reading" });
    this.canvas = element("div", { class: "canvas", tabindex: "0", role: "img" });
    this.figure = element("figure", {}, element("figcaption", {}, element("h3", {}, about.title),
      element("p", { class: "note" }, about.sentence)), this.reading, this.canvas);
    this.at = null;
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.read(null));
    this.canvas.addEventListener("keydown", (event) => this.step(event));
    this.canvas.addEventListener("focus", () => this.reading.setAttribute("aria-live", "polite"));
    this.canvas.addEventListener("blur", () => { this.reading.removeAttribute("aria-live"); this.read(null); });
    new ResizeObserver(() => this.data && this.draw()).observe(this.canvas);
  }

  update(data) {
    this.data = data;
    this.figure.classList.toggle("empty", data.buckets.length === 0);
    this.draw();
  }

  draw() {
    const { data, about } = this;
    const width = Math.max(this.canvas.clientWidth, 200);
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, "aria-hidden": "true" });
    if (data.buckets.length) {
      const marks = about.marks(data);
      const axis = marks.ticks || ticks(marks.low, marks.high, HEIGHT / 40, marks.finest);
      const [low, high] = [axis[0], axis[axis.length - 1]];
      const x = (time) => EDGE.left + ((time - data.from) / (data.to - data.from)) * (width - EDGE.left - EDGE.right);
      const y = (value) => HEIGHT - EDGE.bottom - ((value - low) / (high - low || 1)) * (HEIGHT - EDGE.top - EDGE.bottom);
      this.grid(svg, axis, marks.label, x, y, width);
      marks.draw((name, attributes) => svg.append(drawn(name, attributes)), x, y);
      this.cursor = drawn("rect", { class: "cursor", y: EDGE.top, height: HEIGHT - EDGE.top - EDGE.bottom, width: 0 });
      svg.append(this.cursor);
      this.x = x;
    }
    this.canvas.replaceChildren(data.buckets.length ? svg : element("p", { class: "nothing" }, about.nothing(data)));
    this.read(this.at);
  }

  grid(svg, axis, label, x, y, width) {
    for (const value of axis) {
      svg.append(drawn("line", { class: value === 0 ? "zero" : "grid", x1: EDGE.left, x2: width - EDGE.right,
        y1: y(value), y2: y(value) }));
      const text = drawn("text", { class: "tick", x: EDGE.left - 7, y: y(value) + 4, "text-anchor": "end" });
      text.textContent = label(value);
      svg.append(text);
    }
    const { from, to } = this.data;
    for (const [share, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) {
      const time = from + share * (to - from);
      const text = drawn("text", { class: "tick", x: x(time), y: HEIGHT - 5, "text-anchor": anchor });
      text.textContent = share === 1 ? "now" : ago(to - time);
      svg.append(text);
    }
  }

  point(event) {
    if (!this.x) return;
    const place = event.clientX - this.canvas.getBoundingClientRect().left;
    const { buckets, width } = this.data;
    const distance = (bucket) => Math.abs(this.x(bucket.at + width / 2) - place);
    const near = buckets.reduce((best, each) => (!best || distance(each) < distance(best) ? each : best), null);
    this.read(near && near.at);
  }

  step(event) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move || !this.data) return;
    event.preventDefault();
    const { buckets } = this.data;
    const now = buckets.findIndex((each) => each.at === this.at);
    const next = now < 0 ? buckets.length - 1 : Math.min(Math.max(now + move, 0), buckets.length - 1);
    if (buckets[next]) this.read(buckets[next].at);
  }

  read(at) {
    this.at = at;
    const { data, about } = this;
    const one = data.buckets.filter((each) => each.at === at);
    const shown = one.length ? one : data.buckets;
    const when = one.length ? this.moment(one[0]) : `in the last ${ago(data.to - data.from).replace(" ago", "")}`;
    const parts = about.reading(data, shown).map(([colour, words, amount]) =>
      element("span", { class: "key" }, element("i", { class: colour }), element("b", {}, amount), ` ${words}`));
    this.reading.replaceChildren(...parts, element("span", { class: "when" }, when));
    this.canvas.setAttribute("aria-label", `${about.title}: ${this.reading.textContent}. Arrow keys read single moments.`);
    if (!this.cursor || !this.x) return;
    this.cursor.setAttribute("width", one.length ? Math.max(this.x(at + data.width) - this.x(at), 2) : 0);
    if (one.length) this.cursor.setAttribute("x", Math.max(this.x(at), EDGE.left));
  }

  moment(bucket) {
    const past = this.data.to - bucket.at - this.data.width;
    const width = duration(this.data.width);
    return past < 0 ? `in the ${width} that are not over yet` : `in ${width}, ${ago(past)}`;
  }
}
