// Charts of the chosen score: of each system, and of the segments of the systems that are shown.
function drawIntervals() {
  const systems = ranked();
  const entries = systems.map((system) => data.entries[system][state.value]);
  const left = namesWidth(data.systems);
  const scale = scaleOf(entries.flat(), left + 10, WIDTH - 16);
  const height = systems.length * ROW;
  const title = `Each system by its ${state.value}, with its interval`;
  const svg = chart(height + ROW, title);
  verticalTicks(svg, scale, height);
  systems.forEach((system, row) => {
    const y = row * ROW + ROW / 2;
    svg.append(systemLabel(0, y + 4, system, left));
    intervalRow(svg, scale, y, entries[row]);
  });
  const rows = entries.map((entry, row) => [data.systems[systems[row]], ...entry.map(shown)]);
  showChart("intervals", title, svg, numbersTable(title, ["system", "score", "low", "high"], rows));
}

const BINS = 20;
const BARS = { left: 12, width: (WIDTH - 24) / BINS, height: 46, apart: 68 };
const END = 100;
const QUARTERS = [0, 25, 50, 75, END];
const inBars = (score) => BARS.left + Math.min(score, END) / END * BINS * BARS.width;

function binsOf(scores) {
  const bins = new Array(BINS).fill(0);
  for (const score of scores) bins[Math.max(0, Math.min(BINS - 1, Math.floor(score / END * BINS)))] += 1;
  return bins;
}

function medianOf(scores) {
  const sorted = [...scores].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

function drawDistribution() {
  const systems = chosenSystems();
  const title = `Segments by their ${state.value}; the line is the median`;
  const svg = chart(systems.length * BARS.apart + ROW, title);
  const counts = systems.map((system) => binsOf(data.scores[state.value][system]));
  const most = Math.max(1, ...counts.flat());
  const rows = systems.map((system, row) => {
    const base = row * BARS.apart + BARS.height + 16;
    const median = medianOf(data.scores[state.value][system]);
    svg.append(systemLabel(BARS.left, base - BARS.height - 4, system, WIDTH - 2 * BARS.left),
      line("axis", BARS.left, base, WIDTH - BARS.left, base));
    counts[row].forEach((count, bin) => {
      const height = BARS.height * count / most;
      svg.append(draw("rect",
        { class: "bar", x: BARS.left + bin * BARS.width + 1, y: base - height, width: BARS.width - 2, height }));
    });
    svg.append(line("median", inBars(median), base - BARS.height, inBars(median), base));
    return [data.systems[system], shown(median), ...counts[row].map(String)];
  });
  for (const tick of QUARTERS.slice(0, -1)) {
    svg.append(label(inBars(tick), systems.length * BARS.apart + TEXT, String(tick), "middle", "faint"));
  }
  // The last bar holds what is above the end of the scale too, such as an error rate.
  const above = systems.some((system) => data.scores[state.value][system].some((score) => score > END));
  svg.append(label(WIDTH, systems.length * BARS.apart + TEXT, above ? `${END} or more` : String(END), "end", "faint"));
  const header = ["system", "median", ...counts[0].map((_, bin) => `from ${bin * END / BINS}`)];
  showChart("distribution", title, svg, numbersTable(title, header, rows));
}
