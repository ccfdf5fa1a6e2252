// The parts of charts, which are SVG, each with a table of its numbers.
const WIDTH = 400;
const ROW = 20;
const TEXT = 12;
const pen = document.createElement("canvas").getContext("2d");
pen.font = `${TEXT}px system-ui, sans-serif`;
const widthOf = (text) => pen.measureText(text).width;

function chart(height, label, ...children) {
  return draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...children);
}

const line = (name, x1, y1, x2, y2) => draw("line", { class: name, x1, y1, x2, y2 });
const dot = (cx, cy) => draw("circle", { class: "dot", cx, cy, r: 4 });

function label(x, y, words, anchor = "start", name = "") {
  return draw("text", { x, y, class: name, "text-anchor": anchor }, words);
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

// A name that is too wide loses its middle: the end of a path tells more than its folders.
function fitted(name, width) {
  const letters = [...name];
  let text = name;
  for (let kept = letters.length - 1; kept > 0 && widthOf(text) > width; kept -= 1) {
    const end = Math.floor((2 * kept) / 3);
    text = `${letters.slice(0, kept - end).join("")}…${letters.slice(letters.length - end).join("")}`;
  }
  return text;
}

function systemLabel(x, y, system, width = WIDTH) {
  const text = label(x, y, fitted(data.systems[system], width));
  text.append(draw("title", {}, data.systems[system]));
  return text;
}

// The column of names beside a chart: as wide as the longest, and at most half of the chart.
const namesWidth = (names) => Math.min(WIDTH / 2, Math.ceil(Math.max(...names.map(widthOf))) + 10);

function verticalTicks(svg, scale, height) {
  for (const tick of scale.ticks) {
    svg.append(line("axis", scale.at(tick), 0, scale.at(tick), height),
      label(scale.at(tick), height + TEXT + 2, String(tick), "middle", "faint"));
  }
}

// A score with its interval, in a row of a chart.
function intervalRow(svg, scale, y, [score, low, high]) {
  svg.append(line("whisker", scale.at(low), y, scale.at(high), y), dot(scale.at(score), y));
}

function numbersTable(caption, header, rows) {
  const cells = ([first, ...others]) => [make("th", { scope: "row" }, named(first)),
    ...others.map((cell) => make("td", {}, cell))];
  return make("details", {}, make("summary", {}, "Numbers"),
    tableOf(caption, header.map((name) => heading(name)), rows.map(cells)));
}

function showChart(name, title, ...parts) {
  byId(name).replaceChildren(make("figcaption", {}, title), ...parts);
}
