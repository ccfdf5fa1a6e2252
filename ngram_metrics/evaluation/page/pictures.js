// Pictures as SVG, each with a table of its numbers.
const WIDTH = 400;
const ROW = 20;

function picture(height, label, ...children) {
  return draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...children);
}

// Round limits around numbers, and a function from numbers to positions between two ends.
function scaleOf(numbers, from, to) {
  let [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  if (high - low < 1) [low, high] = [low - 0.5, high + 0.5];
  const step = [0.2, 0.5, 1, 2, 5, 10, 20, 50].find((size) => (high - low) / size <= 5) || 50;
  const ticks = [];
  for (let tick = Math.ceil(low / step); tick * step <= high; tick += 1) ticks.push(Number((tick * step).toFixed(1)));
  return { ticks, at: (number) => from + (to - from) * (number - low) / (high - low) };
}

function shortened(name, length) {
  const letters = [...name];
  if (letters.length <= length) return name;
  // The end of a path is more informative than its folders.
  const end = Math.floor((2 * length) / 3);
  return `${letters.slice(0, length - 1 - end).join("")}…${letters.slice(-end).join("")}`;
}

function numbersTable(caption, header, rows) {
  const cells = ([first, ...others]) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, first)),
    ...others.map((cell) => make("td", {}, cell)));
  return make("details", {}, make("summary", {}, "Numbers"), make("div", { class: "wide" }, make("table", {},
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...header.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...rows.map(cells)))));
}

function drawIntervals() {
  const entries = data.entries.map((of) => of[state.value]);
  const height = entries.length * ROW + 24;
  const scale = scaleOf(entries.flat(), 160, WIDTH - 12);
  const svg = picture(height, `${state.value} of each system with its interval`);
  for (const tick of scale.ticks) {
    const x = scale.at(tick);
    svg.append(draw("line", { class: "axis", x1: x, x2: x, y1: 0, y2: height - 18 }),
      draw("text", { class: "faint", x, y: height - 4, "text-anchor": "middle" }, String(tick)));
  }
  entries.forEach(([score, low, high], number) => {
    const y = number * ROW + ROW / 2;
    svg.append(draw("text", { x: 0, y: y + 4 }, shortened(data.systems[number], 20)),
      draw("line", { class: "whisker", x1: scale.at(low), x2: scale.at(high), y1: y, y2: y }),
      draw("circle", { class: "dot", cx: scale.at(score), cy: y, r: 4 }));
  });
  const rows = entries.map((entry, number) => [data.systems[number], ...entry.map((score) => score.toFixed(data.digits))]);
  byId("intervals").replaceChildren(svg, numbersTable(state.value, ["system", "score", "low", "high"], rows));
}

const BINS = 20;

function drawDistribution() {
  const high = 46;
  const systems = chosenSystems();
  const svg = picture(systems.length * (high + 20) + 20, `number of sentences by ${state.value}`);
  const end = data.highest[state.value];
  const counts = systems.map((system) => {
    const bins = new Array(BINS).fill(0);
    for (const score of data.scores[state.value][system]) bins[Math.min(BINS - 1, Math.floor(score / end * BINS))] += 1;
    return bins;
  });
  const most = Math.max(1, ...counts.flat());
  const width = WIDTH / BINS;
  const rows = systems.map((system, row) => {
    const base = row * (high + 20) + high + 14;
    const scores = [...data.scores[state.value][system]].sort((a, b) => a - b);
    const median = (scores[(scores.length - 1) >> 1] + scores[scores.length >> 1]) / 2;
    svg.append(draw("text", { x: 0, y: base - high - 2 }, shortened(data.systems[system], 40)),
      draw("line", { class: "axis", x1: 0, x2: WIDTH, y1: base, y2: base }));
    counts[row].forEach((count, bin) => {
      const tall = high * count / most;
      svg.append(draw("rect", { class: "bar", x: bin * width + 1, y: base - tall, width: width - 2, height: tall }));
    });
    const x = Math.min(median, end) / end * WIDTH;
    svg.append(draw("line", { class: "median", x1: x, x2: x, y1: base - high, y2: base }));
    return [data.systems[system], shown(median), ...counts[row].map(String)];
  });
  // The last bar holds what is above the end too, such as an error rate.
  const above = systems.some((system) => data.scores[state.value][system].some((score) => score > end));
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const anchor = part === 0 ? "start" : part === 1 ? "end" : "middle";
    const y = systems.length * (high + 20) + 14;
    svg.append(draw("text", { class: "faint", x: part * WIDTH, y, "text-anchor": anchor },
      `${part * end}${above && part === 1 ? " or more" : ""}`));
  }
  const header = ["system", "median", ...counts[0].map((_, bin) => `from ${bin * end / BINS}`)];
  byId("distribution").replaceChildren(svg, numbersTable(`sentences by ${state.value}`, header, rows));
}

function drawBuckets() {
  const high = 60;
  const systems = chosenSystems();
  const of = (bucket, system) => bucket.scores[state.value][system];
  const scale = scaleOf(data.buckets.flatMap((bucket) => systems.map((system) => of(bucket, system))).flat(), high, 0);
  const svg = picture(systems.length * (high + 22) + 36, `${state.value} by the length of the reference`);
  const width = (WIDTH - 30) / data.buckets.length;
  const middle = (number) => 30 + (number + 0.5) * width;
  systems.forEach((system, row) => {
    const top = row * (high + 22) + 16;
    svg.append(draw("text", { x: 0, y: top - 4 }, shortened(data.systems[system], 40)));
    for (const tick of scale.ticks) {
      const y = top + scale.at(tick);
      svg.append(draw("line", { class: "axis", x1: 26, x2: WIDTH, y1: y, y2: y }),
        draw("text", { class: "faint", x: 22, y: y + 4, "text-anchor": "end" }, String(tick)));
    }
    data.buckets.forEach((bucket, number) => {
      const [score, low, highest] = of(bucket, system);
      const x = middle(number);
      svg.append(
        draw("line", { class: "whisker", x1: x, x2: x, y1: top + scale.at(low), y2: top + scale.at(highest) }),
        draw("circle", { class: "dot", cx: x, cy: top + scale.at(score), r: 4 }));
    });
  });
  const bottom = systems.length * (high + 22) + 14;
  const range = (bucket) => (bucket.from === bucket.to ? `${bucket.from}` : `${bucket.from}–${bucket.to}`);
  data.buckets.forEach((bucket, number) => {
    svg.append(draw("text", { x: middle(number), y: bottom, "text-anchor": "middle" }, range(bucket)),
      draw("text", { class: "faint", x: middle(number), y: bottom + 15, "text-anchor": "middle" },
        `n = ${bucket.sentences}`));
  });
  const rows = systems.flatMap((system) => data.buckets.map((bucket) =>
    [data.systems[system], range(bucket), String(bucket.sentences), ...of(bucket, system).map(shown)]));
  const header = ["system", "words", "sentences", "score", "low", "high"];
  byId("buckets").replaceChildren(svg, numbersTable(`${state.value} by length`, header, rows));
}

function drawPictures() {
  drawIntervals();
  drawDistribution();
  drawBuckets();
}
