// The chart of the scores: one row for each system in the caller's order, so that epochs read as a line.
const WIDTH = 400;
const ROW = 20;
const TEXT = 12;
const pen = document.createElement("canvas").getContext("2d");
pen.font = `${TEXT}px system-ui, sans-serif`;
const widthOf = (text) => pen.measureText(text).width;

const line = (name, x1, y1, x2, y2) => draw("line", { class: name, x1, y1, x2, y2 });

// Round limits around numbers, and a function from numbers to positions between two ends.
function scaleOf(numbers, from, to) {
  let [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  if (high - low < 1) [low, high] = [low - 0.5, high + 0.5];
  const step = [0.2, 0.5, 1, 2, 5, 10, 20, 50].find((size) => (high - low) / size <= 5) || 50;
  const ticks = [];
  for (let tick = Math.ceil(low / step); tick * step <= high; tick += 1) {
    ticks.push(Number((tick * step).toFixed(1)));
  }
  return { ticks, at: (number) => from + (to - from) * (number - low) / (high - low) };
}

// Cut the beginning of a name that is too wide: the end of a path says more than its folders.
function fitted(name, width) {
  if (widthOf(name) <= width) return name;
  const letters = [...name];
  while (widthOf(`…${letters.join("")}`) > width) letters.shift();
  return `…${letters.join("")}`;
}

function drawTicks(svg, scale, height) {
  for (const tick of scale.ticks) {
    const x = scale.at(tick);
    svg.append(line("axis", x, 0, x, height));
    svg.append(draw("text", { x, y: height + TEXT + 2, class: "faint", "text-anchor": "middle" }, String(tick)));
  }
}

function drawSystem(svg, scale, y, left, name, [score, low, high]) {
  const label = draw("text", { x: 0, y: y + 4 }, fitted(name, left));
  label.append(draw("title", {}, name));
  svg.append(label, line("whisker", scale.at(low), y, scale.at(high), y));
  svg.append(draw("circle", { class: "dot", cx: scale.at(score), cy: y, r: 3 }));
}

function drawScores() {
  const entries = every.map((system) => data.entries[system][state.value]);
  const left = Math.min(WIDTH / 2, Math.ceil(Math.max(...data.systems.map(widthOf))) + 10);
  const scale = scaleOf(entries.flat(), left + 10, WIDTH - 16);
  const height = entries.length * ROW;
  const title = `${state.value} of each system with its interval, in the order given`;
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height + ROW}`, role: "img", "aria-label": title });
  const middle = (row) => row * ROW + ROW / 2;
  drawTicks(svg, scale, height);
  const points = entries.map(([score], row) => `${scale.at(score)},${middle(row)}`);
  svg.append(draw("polyline", { class: "curve", points: points.join(" ") }));
  entries.forEach((entry, row) => drawSystem(svg, scale, middle(row), left, data.systems[every[row]], entry));
  byId("chart").replaceChildren(make("figcaption", {}, title), svg);
}
