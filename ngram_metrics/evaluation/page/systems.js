// The table of systems: sorted by a click, copied by a button.
function sortTable(table, heading) {
  const column = [...heading.parentElement.children].indexOf(heading);
  const { sort } = heading.querySelector("button").dataset;
  const numbers = sort !== "name";
  // The best score is first.
  const ascending = sort === "higher" ? heading.getAttribute("aria-sort") === "descending"
    : heading.getAttribute("aria-sort") !== "ascending";
  const key = (row) => {
    const text = row.children[column].textContent;
    if (!numbers) return text;
    const number = parseFloat(text);
    // Rows without a number are last.
    return Number.isNaN(number) ? (ascending ? Infinity : -Infinity) : number;
  };
  const compare = (a, b) => (numbers ? (a === b ? 0 : a - b) : a.localeCompare(b));
  const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
  rows.sort(([a], [b]) => (ascending ? compare(a, b) : compare(b, a)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
  for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  tell(`sorted by ${heading.textContent}, ${ascending ? "ascending" : "descending"}`);
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
  tell("copied");
}

function startSystems() {
  const table = byId("scores");
  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => sortTable(table, button.closest("th")));
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(button.dataset.copy));
  }
}
