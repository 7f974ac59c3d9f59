// The four charts of a federation: what each draws and how it is read.

import { bytes, count, mean, percent, value } from "./words.js";

const SHOWN_ARMS = 7; // the others are drawn together

const gap = (breadth) => (breadth > 6 ? 1.5 : 0); // pixels between bars that are broad enough
const total = (buckets, key) => buckets.reduce((sum, each) => sum + (each.sums[key] || 0), 0);

// Bars up for what sites send and down for what they get; the bucket that is not over yet is paler.
function mirrored(title, sentence, up, down, words, label, unit) {
  const marks = ({ buckets, width, from, to }) => ({
    low: -Math.max(...buckets.map((each) => each.sums[down] || 0)),
    high: Math.max(1, ...buckets.map((each) => each.sums[up] || 0)),
    finest: 1, // of what is counted there is no half
    label: (number) => label(Math.abs(number)),
    draw(add, x, y) {
      for (const each of buckets) {
        const [begin, end] = [x(Math.max(each.at, from)), x(Math.min(each.at + width, to))];
        const paler = each.at + width > to ? " open" : "";
        for (const [key, colour, sign] of [[up, "c1", 1], [down, "c2", -1]]) {
          const height = Math.abs(y(0) - y(sign * (each.sums[key] || 0)));
          add("rect", { class: colour + paler, x: begin, width: Math.max(end - begin - gap(end - begin), 1),
            y: sign > 0 ? y(0) - height : y(0), height });
        }
      }
    },
  });
  return {
    title, sentence, marks,
    nothing: () => "Nothing has travelled yet.",
    reading: (_, buckets) => [["c1", words[0], unit(total(buckets, up))], ["c2", words[1], unit(total(buckets, down))]],
  };
}

export const MESSAGES = mirrored("Messages", "Statistics from sites above the line, models to sites below it.",
  "uploads", "downloads", ["uploads", "downloads"], count, count);

export const BYTES = mirrored("Bytes", "All that travelled, with acknowledgements and questions.",
  "bytes_up", "bytes_down", ["up", "down"], bytes, bytes);

// The mean reward of all reporting sites as a line, and of each site as a thin one.
export const REWARD = {
  title: "Reward",
  sentence: "Average over the sites that report it; thin lines are single sites, up to 12.",
  marks({ buckets, width, from, to, sites }) {
    const average = ({ sums }) => sums.reward_sum / sums.rewards;
    const lines = [...sites.map((history) => ["thin", history]), ["line", buckets]].map(([kind, history]) =>
      [kind, history.filter((each) => each.sums.rewards && each.at + width > from)]);
    const all = lines.flatMap(([, history]) => history.map(average));
    return {
      low: Math.min(...all), high: Math.max(...all), label: value,
      draw(add, x, y) {
        for (const [kind, history] of lines) {
          const points = history.map((each) => [x(Math.min(Math.max(each.at + width / 2, from), to)), y(average(each))]);
          add("polyline", { class: kind, points: points.map((point) => point.join(",")).join(" ") });
          if (kind === "line" && points.length)
            add("circle", { class: "end", cx: points.at(-1)[0], cy: points.at(-1)[1], r: 4 });
        }
      },
    };
  },
  nothing: (data) => data.reporting
    ? "No reward has been reported yet."
    : "No site has opted in: a site that is opened with report=True is shown here.",
  reading(_, buckets) {
    const rewards = total(buckets, "rewards");
    return rewards ? [["c1", `average of ${count(rewards)} rewards`, mean(total(buckets, "reward_sum") / rewards)]] : [];
  },
};

// Which arm gets which colour: the arms that are chosen most, the others together. An arm keeps its colour.
function palette({ arms, colours }) {
  const named = Object.entries(arms).filter(([arm]) => arm).sort((one, other) => other[1] - one[1]);
  const most = named.slice(0, SHOWN_ARMS).map(([arm]) => arm);
  for (const arm of colours.keys()) if (!most.includes(arm)) colours.delete(arm);
  for (const arm of most) {
    const taken = new Set(colours.values());
    if (!colours.has(arm)) colours.set(arm, [1, 2, 3, 4, 5, 6, 7].find((each) => !taken.has(each)));
  }
  const shown = [...colours].sort((one, other) => one[1] - other[1]).map(([arm, colour]) => [arm, `c${colour}`]);
  return { shown, has_others: named.length > SHOWN_ARMS || "" in arms };
}

function shares(data, buckets) {
  const { shown, has_others } = palette(data);
  const sum = (keep) => buckets.reduce((all, { sums }) => all + Object.entries(sums)
    .reduce((some, [arm, times]) => some + (keep(arm) ? times : 0), 0), 0);
  const all = sum(() => true) || 1;
  const parts = shown.map(([arm, colour]) => [colour, arm, sum((each) => each === arm) / all]);
  const named = new Set(shown.map(([arm]) => arm));
  return has_others ? [...parts, ["others", "all others", sum((each) => !named.has(each)) / all]] : parts;
}

export const ARMS = {
  title: "Arms chosen",
  sentence: "Share of decisions that went to each arm, at the sites that report it.",
  marks: (data) => ({
    ticks: [0, 0.5, 1], label: percent,
    draw(add, x, y) {
      const { buckets, width, from, to } = data;
      for (const each of buckets) {
        const [begin, end] = [x(Math.max(each.at, from)), x(Math.min(each.at + width, to))];
        let sum = 0;
        for (const [colour, , share] of shares(data, [each])) {
          const between = gap(end - begin);
          const height = Math.max(y(sum) - y(sum + share) - between, 0);
          const breadth = Math.max(end - begin - between, 1);
          add("rect", { class: colour, x: begin, width: breadth, y: y(sum + share), height });
          sum += share;
        }
      }
    },
  }),
  nothing: REWARD.nothing,
  reading: (data, buckets) => shares(data, buckets).map(([colour, arm, share]) => [colour, arm, percent(share)]),
};
