// Charts of buckets, of segments by their length and of words by their frequency: one panel for each system shown.
const PANEL = { left: 34, height: 60, apart: 84 };

function rangeOf({ from, to }) {
  if (to === null) return `${from}+`;
  return from === to ? `${from}` : `${from}–${to}`;
}

function drawPanel(svg, top, system, scale, scores, middle) {
  svg.append(systemLabel(0, top - 6, system));
  for (const tick of scale.ticks) {
    const y = top + scale.at(tick);
    svg.append(line("axis", PANEL.left, y, WIDTH, y), label(PANEL.left - 6, y + 4, String(tick), "end", "faint"));
  }
  scores.forEach(([score, low, high], number) => {
    const x = middle(number);
    svg.append(line("whisker", x, top + scale.at(low), x, top + scale.at(high)), dot(x, top + scale.at(score)));
  });
}

// Buckets with what they hold, their number, and their scores of each system.
function drawBuckets(name, title, header, buckets) {
  const systems = chosenSystems();
  const numbers = buckets.flatMap(({ scores }) => systems.flatMap((system) => scores[system]));
  const scale = scaleOf(numbers, PANEL.height, 0);
  const svg = chart(systems.length * PANEL.apart + 2 * ROW, title);
  const width = (WIDTH - PANEL.left) / buckets.length;
  const middle = (number) => PANEL.left + (number + 0.5) * width;
  systems.forEach((system, row) => {
    const scores = buckets.map((bucket) => bucket.scores[system]);
    drawPanel(svg, row * PANEL.apart + 18, system, scale, scores, middle);
  });
  const bottom = systems.length * PANEL.apart + TEXT;
  buckets.forEach((bucket, number) => svg.append(label(middle(number), bottom, rangeOf(bucket), "middle"),
    label(middle(number), bottom + TEXT + 4, `n=${bucket.count}`, "middle", "faint")));
  const rows = systems.flatMap((system) => buckets.map((bucket) =>
    [data.systems[system], rangeOf(bucket), String(bucket.count), ...bucket.scores[system].map(shown)]));
  showChart(name, title, svg, numbersTable(title, ["system", ...header, "score", "low", "high"], rows));
}

function drawLengths() {
  const buckets = data.buckets.map(({ segments, scores, ...range }) =>
    ({ ...range, count: segments, scores: scores[state.value] }));
  drawBuckets("lengths", `By the length of the reference in words: ${state.value}`, ["words", "segments"], buckets);
}

function drawAccuracy() {
  if (!data.accuracy.length) return;
  const buckets = data.accuracy.map(({ words, ...bucket }) => ({ ...bucket, count: words }));
  drawBuckets("accuracy", "Word accuracy (F1) by the frequency of the word in the references",
    ["frequency", "words"], buckets);
}
