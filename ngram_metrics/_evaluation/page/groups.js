// The scores of the segments with each label of a column.
const grouped = data.columns.filter(({ groups }) => groups);

function groupFigure(title, group, systems, left, scale) {
  const height = systems.length * ROW;
  const svg = chart(height + ROW, title);
  verticalTicks(svg, scale, height);
  systems.forEach((system, row) => {
    const y = row * ROW + ROW / 2;
    svg.append(systemLabel(0, y + 4, system, left));
    intervalRow(svg, scale, y, group.scores[state.value][system]);
  });
  return make("figure", {}, make("figcaption", {}, title), svg);
}

// One chart for each label, all on the same scale, and one table of their numbers.
function drawGroups() {
  if (!grouped.length) return;
  const { name, labels, groups } = grouped[Number(byId("column").value)];
  const systems = chosenSystems();
  const left = namesWidth(systems.map((system) => data.systems[system]));
  const scores = groups.map((group) => systems.map((system) => group.scores[state.value][system]));
  const scale = scaleOf(scores.flat(2), left + 10, WIDTH - 16);
  byId("groups-charts").replaceChildren(...groups.map((group, number) =>
    groupFigure(`By ${name}: ${labels[number]}, ${counted(group.segments, "segment")}, ${state.value}`,
      group, systems, left, scale)));
  const rows = groups.flatMap((group, number) => systems.map((system, row) =>
    [labels[number], data.systems[system], String(group.segments), ...scores[number][row].map(shown)]));
  byId("groups-numbers").replaceChildren(numbersTable(`By ${name}: ${state.value}`,
    [name, "system", "segments", "score", "low", "high"], rows));
}

function startGroups() {
  byId("groups").hidden = !grouped.length;
  byId("groups-link").hidden = !grouped.length;
  if (!grouped.length) return;
  addOptions(byId("column"), grouped.map(({ name }, number) => [String(number), name]), "0");
  byId("column").addEventListener("change", drawGroups);
}
