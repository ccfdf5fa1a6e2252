// The table of systems: one score at a time or all, sorted by a click.

// Sort by a column, best first. A second click reverses the order.
function sortTable(table, header) {
  const column = [...header.parentElement.children].indexOf(header);
  const button = header.querySelector("button");
  const { sort } = button.dataset;
  const before = header.getAttribute("aria-sort");
  const ascending = sort === "higher" ? before === "descending" : before !== "ascending";
  const direction = ascending ? 1 : -1;
  // Rows without a number come last in both directions.
  const number = ({ children }) => parseFloat(children[column].textContent) || 0;
  const isMissing = ({ children }) => children[column].textContent === "";
  const rows = [...table.tBodies[0].rows];
  rows.sort(sort === "name"
    ? (a, b) => direction * a.children[0].textContent.localeCompare(b.children[0].textContent)
    : (a, b) => isMissing(a) - isMissing(b) || direction * (number(a) - number(b)));
  table.tBodies[0].append(...rows);
  for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  return `Sorted by ${button.textContent}, ${ascending ? "lowest" : "highest"} first`;
}

// Columns of the table, and charts.
function showColumns() {
  const wanted = String(data.values.indexOf(state.value));
  const all = byId("every").checked;
  for (const part of byId("systems").querySelectorAll("[data-value]")) {
    part.hidden = !all && part.dataset.value !== wanted;
  }
}

function startSystems() {
  const table = byId("scores");
  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => tell(sortTable(table, button.closest("th"))));
  }
  byId("every").addEventListener("change", showColumns);
  fadeAtEnd(table.parentElement);
}
