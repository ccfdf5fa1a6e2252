// Which segments are listed: those chosen by a click elsewhere on the page, by labels, and by a search.
const filters = { held: null, labels: new Map() };

// Whether the compared system differs from the baseline in the chosen direction, by more than the margin.
function hasChanged(segment) {
  const change = changeOf(segment);
  return (byId("change").value === "worse" ? -change : change) > Number(byId("margin").value);
}

// The text that a search looks through: all that the reader sees of a segment. A reference may be missing.
function textsOf(segment) {
  return [
    ...data.of_references.texts.map((texts) => texts[segment] ?? ""),
    ...chosenSystems().map((system) => data.of_systems.texts[system][segment]),
    ...(data.sources ? [data.sources[segment]] : []),
    ...data.columns.map(({ labels, of_segments: of }) => labels[of[segment]]),
  ];
}

function filteredSegments() {
  let found = filters.held ?? data.lengths.map((_, segment) => segment);
  for (const [column, wanted] of filters.labels) {
    found = found.filter((segment) => data.columns[column].of_segments[segment] === wanted);
  }
  if (byId("change").value) found = found.filter(hasChanged);
  const words = byId("search").value.toLowerCase();
  if (!words) return found;
  return found.filter((segment) => textsOf(segment).some((text) => text.toLowerCase().includes(words)));
}

const isFiltered = () => filters.held !== null || filters.labels.size > 0 ||
  byId("change").value !== "" || byId("search").value !== "";

function removeFilters() {
  filters.held = null;
  filters.labels.clear();
  for (const select of byId("labels").querySelectorAll("select")) select.value = "";
  byId("change").value = "";
  byId("search").value = "";
}

function startFilters(changed) {
  data.columns.forEach(({ name, labels, groups }, column) => {
    if (!groups) return;
    const select = make("select", { "data-column": String(column) });
    addOptions(select, [["", "all"], ...labels.map((words, number) => [String(number), words])], "");
    select.addEventListener("change", () => {
      if (select.value) filters.labels.set(column, Number(select.value));
      else filters.labels.delete(column);
      changed();
    });
    byId("labels").append(make("label", {}, `${name} `, select));
  });
  for (const name of ["change", "margin", "search"]) byId(name).addEventListener("input", changed);
}
