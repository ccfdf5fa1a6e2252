// Sentences, one page at a time: the work does not grow with the number of sentences or of systems.
const LINES = 100;
const list = { order: [], page: 0, held: null, current: null };

const atOnce = () => Math.max(5, Math.min(20, Math.floor(LINES / (chosen.size + data.references.length))));
const picked = () => ({ first: Number(byId("first").value), second: Number(byId("second").value) });

// 1 if a higher score is better, else -1.
const sign = () => data.signs[state.value];

// The number by which sentences are sorted, and the direction.
const ORDERS = {
  apart: ["largest difference", (first, second) => (s) => -Math.abs(first[s] - second[s])],
  ahead: ["first better", (first, second) => (s) => sign() * (second[s] - first[s])],
  behind: ["first worse", (first, second) => (s) => sign() * (first[s] - second[s])],
  worst: ["lowest score", (first) => (s) => first[s]],
  best: ["highest score", (first) => (s) => -first[s]],
  longest: ["longest", () => (s) => -data.lengths[s]],
  shortest: ["shortest", () => (s) => data.lengths[s]],
  file: ["as in the file", () => (s) => s],
};

const lowered = new Map();
function searched(side, number) {
  const key = `${side}${number}`;
  if (!lowered.has(key)) {
    const texts = (side === "r" ? data.of_references : data.of_systems).texts[number];
    lowered.set(key, texts.map((text) => (text ?? "").toLowerCase()));
  }
  return lowered.get(key);
}

// Sort and filter again, and show the first page.
function arrange() {
  list.current = null;
  const { first, second } = picked();
  const scores = data.scores[state.value];
  const key = ORDERS[byId("order").value][1](scores[first], scores[second]);
  const keys = data.lengths.map((_, sentence) => key(sentence));
  let order = list.held ? [...list.held] : keys.map((_, sentence) => sentence);
  const words = byId("search").value.toLowerCase();
  if (words) {
    const sides = [...data.references.map((_, number) => searched("r", number)),
      ...chosenSystems().map((number) => searched("s", number))];
    order = order.filter((sentence) => sides.some((texts) => texts[sentence].includes(words)));
  }
  order.sort((a, b) => keys[a] - keys[b] || a - b);
  list.order = order;
  list.page = 0;
  byId("all").hidden = !list.held && !words;
  showPage();
}

function showPage() {
  const start = list.page * atOnce();
  const sentences = list.order.slice(start, start + atOnce());
  byId("list").replaceChildren(...sentences.map(articleOf));
  byId("range").textContent = sentences.length
    ? `${(start + 1).toLocaleString("en")}–${(start + sentences.length).toLocaleString("en")} of ` +
      counted(list.order.length, "sentence")
    : "no sentence";
  byId("back").disabled = list.page === 0;
  byId("on").disabled = start + sentences.length >= list.order.length;
}

function givenLine(place) {
  const text = data.rewritten[place];
  return text === undefined ? [] : [addText(make("span", { class: "line given", dir: "auto" }, "as given: "), text)];
}

// The meaning of the shading in words, for screen readers.
function inWords(orders) {
  const matched = orders.length - orders.split("0").length + 1;
  return make("span", { class: "hidden" }, ` ${matched} of ${counted(orders.length, "word")} matched`);
}

function articleOf(sentence) {
  const marked = byId("marked").value;
  const systems = chosenSystems();
  const markedBy = marked === "chosen" ? systems : [Number(marked)];
  const named = data.values.map((value) => make("th", { scope: "col" }, value));
  const rows = data.references.flatMap((name, number) => {
    const orders = largest(markedBy.map((system) => data.reference_orders[system][number][sentence]));
    const { texts, steps } = data.of_references;
    // A sentence may have fewer references than another.
    if (texts[number][sentence] === null) return [];
    return make("tr", { class: "reference" }, make("th", { scope: "row" }, "reference ", make("bdi", {}, name)),
      make("td", { class: "text" }, shadedLine(texts[number][sentence], steps[number][sentence], orders, true),
        inWords(orders), ...givenLine(`r${number}:${sentence}`)),
      ...data.values.map(() => make("td", {})));
  });
  for (const system of systems) {
    const { texts, steps } = data.of_systems;
    const orders = data.hypothesis_orders[system][sentence];
    rows.push(make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, data.systems[system])),
      make("td", { class: "text" }, shadedLine(texts[system][sentence], steps[system][sentence], orders, false),
        inWords(orders), ...givenLine(`s${system}:${sentence}`)),
      ...data.values.map((value) => make("td", { "data-name": value }, shown(data.scores[value][system][sentence])))));
  }
  const link = make("a", { href: `#s=${sentence + 1}` }, `Sentence ${sentence + 1}`);
  const difference = [];
  if (several) {
    const { first, second } = picked();
    const apart = data.scores[state.value][first][sentence] - data.scores[state.value][second][sentence];
    difference.push(make("span", {}, `difference of ${state.value} ${apart > 0 ? "+" : ""}${shown(apart)}`));
  }
  return make("article", { id: `sentence-${sentence + 1}`, tabindex: "-1", "aria-label": `Sentence ${sentence + 1}` },
    make("header", {}, make("h3", {}, link), make("span", {}, counted(data.lengths[sentence], "word")), ...difference),
    make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "system"),
      make("th", { scope: "col", class: "text" }, "text"), ...named)), make("tbody", {}, ...rows)));
}

function showAll() {
  list.held = null;
  byId("search").value = "";
  arrange();
}

// Show a sentence, wherever it is in the order; a filter that hides it is removed.
function goTo(sentence) {
  if (!list.order.includes(sentence)) showAll();
  const page = Math.floor(list.order.indexOf(sentence) / atOnce());
  if (page !== list.page) {
    list.page = page;
    showPage();
  }
  list.current = sentence;
  byId(`sentence-${sentence + 1}`).focus();
  byId(`sentence-${sentence + 1}`).scrollIntoView({ block: "start" });
}

function turn(pages) {
  list.page += pages;
  showPage();
  list.current = null;
  byId("sentences").scrollIntoView();
  tell(byId("range").textContent);
}

function move(by) {
  const place = list.order.indexOf(list.current);
  const next = place < 0 ? list.page * atOnce() : place + by;
  if (next < 0 || next >= list.order.length) {
    tell(by > 0 ? "the last sentence" : "the first sentence");
    return;
  }
  history.replaceState(null, "", `#s=${list.order[next] + 1}`);
  goTo(list.order[next]);
}

function hold(sentences, name) {
  list.held = sentences;
  byId("search").value = "";
  arrange();
  byId("sentences").scrollIntoView();
  tell(`${counted(sentences.length, "sentence")} with ${name}`);
}
