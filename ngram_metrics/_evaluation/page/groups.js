// The scores of the segments with each label, as corpora.
const grouped = data.columns.filter(({ groups }) => groups);

function drawGroups() {
  if (!grouped.length) return;
  const { name, labels, groups } = grouped[Number(byId("column").value)];
  const rows = groups.map(({ segments, scores }, number) => [
    make("th", { scope: "row" }, named(labels[number])),
    make("td", {}, String(segments)),
    ...every.map((system) => scores[state.value][system]).map(([score, low, high]) =>
      make("td", {}, shown(score), make("span", { class: "interval" }, ` [${shown(low)}, ${shown(high)}]`))),
  ]);
  const header = [heading(named(name)), heading("segments"), ...every.map((system) => heading(named(data.systems[system])))];
  byId("groups-table").replaceChildren(tableOf(`${state.value} by ${name}`, header, rows));
}

function startGroups() {
  byId("groups").hidden = !grouped.length;
  byId("groups-link").hidden = !grouped.length;
  addOptions(byId("column"), grouped.map(({ name }, number) => [String(number), name]), "0");
  byId("column").addEventListener("change", drawGroups);
}
