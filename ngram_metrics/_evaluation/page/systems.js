// The table of systems: one score at a time or all, sorted by a click, copied by a button.

// Rows without a number are last, whatever the direction.
function compared(a, b, ascending) {
  if (typeof a === "string") return ascending ? a.localeCompare(b) : b.localeCompare(a);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return ascending ? a - b : b - a;
}

// Sort by a column: the best first, or in the other direction if it is sorted so already.
function sortTable(table, header) {
  const column = [...header.parentElement.children].indexOf(header);
  const { sort } = header.querySelector("button").dataset;
  const before = header.getAttribute("aria-sort");
  const ascending = sort === "higher" ? before === "descending" : before !== "ascending";
  const key = ({ children }) => {
    const text = children[column].textContent;
    return sort === "name" ? text : parseFloat(text);
  };
  const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
  rows.sort(([a], [b]) => compared(a, b, ascending));
  table.tBodies[0].append(...rows.map(([, row]) => row));
  for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  return `Sorted by ${header.textContent}, ${ascending ? "lowest" : "highest"} first`;
}

function showColumns() {
  const wanted = String(data.values.indexOf(state.value));
  const all = byId("every").checked;
  for (const cell of byId("scores").querySelectorAll("[data-value]")) {
    cell.hidden = !all && cell.dataset.value !== wanted;
  }
}

function showSystems() {
  const table = byId("scores");
  const header = table.querySelector(`th.score[data-value="${data.values.indexOf(state.value)}"]`);
  showColumns();
  header.setAttribute("aria-sort", "none");
  sortTable(table, header);
}

async function copy(name) {
  const text = data.copies[name];
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page opened from a file may not have the new clipboard interface.
    const area = make("textarea", { readonly: "" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  tell("Copied");
}

function startSystems() {
  const table = byId("scores");
  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => tell(sortTable(table, button.closest("th"))));
  }
  byId("every").addEventListener("change", showColumns);
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(button.dataset.copy));
  }
}
