// One segment: its source, its references, and the output of each shown system.
function givenLine(place) {
  const text = data.rewritten[place];
  return text === undefined ? [] : [addText(make("span", { class: "line given", dir: "auto" }, "as given: "), text)];
}

// The meaning of the shading in words, for screen readers.
function inWords(orders) {
  const matched = orders.length - orders.split("0").length + 1;
  return make("span", { class: "hidden" }, ` ${matched} of ${counted(orders.length, "word")} matched`);
}

const rowName = (...children) => make("th", { scope: "row" }, ...children);
const emptyCells = () => data.values.map(() => make("td", {}));

function sourceRow(segment) {
  const line = addText(make("span", { class: "line", dir: "auto" }), data.sources[segment]);
  return make("tr", { class: "source" }, rowName("source"), make("td", { class: "text" }, line), ...emptyCells());
}

// A segment may have fewer references than others. Words that no system has matched are marked.
function referenceRows(segment, systems) {
  const { texts, steps } = data.of_references;
  return data.references.flatMap((name, number) => {
    if (texts[number][segment] === null) return [];
    const orders = largest(systems.map((system) => data.reference_orders[system][number][segment]));
    return make("tr", { class: "reference" }, rowName("reference ", named(name)),
      make("td", { class: "text" }, shadedLine(texts[number][segment], steps[number][segment], orders, true),
        inWords(orders), ...givenLine(`r${number}:${segment}`)), ...emptyCells());
  });
}

function systemRow(segment, system) {
  const { texts, steps } = data.of_systems;
  const orders = data.hypothesis_orders[system][segment];
  const flags = titlesOf(flagsOf(system, segment)).map((title) => make("span", { class: "flag" }, title));
  return make("tr", {}, rowName(named(data.systems[system])),
    make("td", { class: "text" }, shadedLine(texts[system][segment], steps[system][segment], orders, false),
      inWords(orders), ...givenLine(`s${system}:${segment}`), ...flags),
    ...data.values.map((value) => make("td", { "data-name": value }, shown(data.scores[value][system][segment]))));
}

// How much better the compared system is than the baseline.
function changeOf(segment) {
  const scores = data.scores[state.value];
  return scores[state.compared][segment] - scores[BASELINE][segment];
}

function writeChange(segment) {
  const change = changeOf(segment);
  return `difference of ${state.value} ${change > 0 ? "+" : ""}${shown(change)}`;
}

function articleOf(segment) {
  const systems = chosenSystems();
  const rows = [...(data.sources ? [sourceRow(segment)] : []),
    ...referenceRows(segment, systems),
    ...systems.map((system) => systemRow(segment, system))];
  const name = `Segment ${segment + 1}`;
  const told = [counted(data.lengths[segment], "word"), ...(several ? [writeChange(segment)] : []),
    ...data.columns.map((column) => `${column.name}: ${column.labels[column.of_segments[segment]]}`)];
  return make("article", { id: `segment-${segment + 1}`, tabindex: "-1", "aria-label": name },
    make("header", {}, make("h3", {}, make("a", { href: `#s=${segment + 1}` }, name)),
      ...told.map((words) => make("span", {}, words))),
    make("table", {}, make("thead", {}, make("tr", {}, heading("system"),
      make("th", { scope: "col", class: "text" }, "text"), ...data.values.map((value) => heading(value)))),
    make("tbody", {}, ...rows)));
}
