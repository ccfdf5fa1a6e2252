// The list of segments. Only one page of it is drawn, so the work does not grow with the number of segments.
const AT_ONCE = 10;
const list = { order: [], page: 0, current: null };

const segmentScore = (segment) => data.scores[state.value][state.compared][segment];
// The number by which segments are sorted, the lowest first.
const ORDERS = {
  apart: ["largest difference", (segment) => -Math.abs(changeOf(segment))],
  ahead: ["better than the baseline", (segment) => -changeOf(segment)],
  behind: ["worse than the baseline", changeOf],
  worst: ["lowest score", segmentScore],
  best: ["highest score", (segment) => -segmentScore(segment)],
  longest: ["longest", (segment) => -data.lengths[segment]],
  shortest: ["shortest", (segment) => data.lengths[segment]],
  file: ["as in the file", (segment) => segment],
};
const orderNames = () => Object.entries(ORDERS).slice(several ? 0 : 3).map(([key, [name]]) => [key, name]);

// Sort and filter again, and show the first page.
function arrange() {
  list.current = null;
  const [, keyOf] = ORDERS[byId("order").value];
  const keys = data.lengths.map((_, segment) => keyOf(segment));
  list.order = [...filteredSegments()].sort((a, b) => keys[a] - keys[b] || a - b);
  list.page = 0;
  byId("all").hidden = !isFiltered();
  showPage();
}

function showPage() {
  const start = list.page * AT_ONCE;
  const segments = list.order.slice(start, start + AT_ONCE);
  byId("list").replaceChildren(...segments.map(articleOf));
  byId("range").textContent = segments.length
    ? `${(start + 1).toLocaleString("en")}–${(start + segments.length).toLocaleString("en")} of ` +
      counted(list.order.length, "segment")
    : "no segment";
  byId("back").disabled = list.page === 0;
  byId("on").disabled = start + segments.length >= list.order.length;
}

function showAll() {
  removeFilters();
  arrange();
}

// Show a segment wherever it is in the list, and remove a filter that hides it.
function goTo(segment) {
  if (!list.order.includes(segment)) showAll();
  const page = Math.floor(list.order.indexOf(segment) / AT_ONCE);
  if (page !== list.page) {
    list.page = page;
    showPage();
  }
  list.current = segment;
  byId(`segment-${segment + 1}`).focus();
  byId(`segment-${segment + 1}`).scrollIntoView({ block: "start" });
}

// Go to a segment, and put it into the address of the page.
function open(segment) {
  history.replaceState(null, "", `#s=${segment + 1}`);
  goTo(segment);
}

function turn(pages) {
  list.page += pages;
  showPage();
  list.current = null;
  byId("segments").scrollIntoView();
  tell(byId("range").textContent);
}

function move(by) {
  const place = list.order.indexOf(list.current);
  const next = place < 0 ? list.page * AT_ONCE : place + by;
  if (next >= 0 && next < list.order.length) open(list.order[next]);
  else tell(by > 0 ? "This is the last segment" : "This is the first segment");
}

// List only some segments.
function hold(segments, name) {
  removeFilters();
  filters.held = segments;
  arrange();
  byId("segments").scrollIntoView();
  tell(`${counted(segments.length, "segment")}: ${name}`);
}

function startSegments() {
  addOptions(byId("order"), orderNames(), orderNames()[0][0]);
  startFilters(() => {
    arrange();
    tell(byId("range").textContent);
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("order").addEventListener("change", arrange);
  byId("back").addEventListener("click", () => turn(-1));
  byId("on").addEventListener("click", () => turn(1));
  byId("all").addEventListener("click", showAll);
  byId("list").addEventListener("focusin", (event) => {
    const article = event.target.closest("article");
    if (article) list.current = Number(article.id.slice("segment-".length)) - 1;
  });
}
