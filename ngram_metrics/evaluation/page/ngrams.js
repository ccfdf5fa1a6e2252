// N-grams of two systems, counted on request, in slices of time too short to notice.
const SHOWN = 15;
const SLICE = 40;

// Number the n-grams of texts, from the numbers of their words; all texts that are compared share `numbers`.
function ngramsOf(ids, order, numbers) {
  let found = ids;
  for (let length = 2; length <= order; length += 1) {
    const known = numbers[length] || (numbers[length] = new Map());
    const longer = [];
    for (let place = 0; place + 1 < found.length; place += 1) {
      // The product stays below 2^53: each factor is below the number of words on the page.
      const key = found[place] * 16777216 + ids[place + length - 1];
      let number = known.get(key);
      if (number === undefined) known.set(key, number = known.size);
      longer.push(number);
    }
    found = longer;
  }
  return found;
}

function countsOf(ngrams) {
  const counts = new Map();
  for (const ngram of ngrams) counts.set(ngram, (counts.get(ngram) || 0) + 1);
  return counts;
}

// For each n-gram its counts: produced, matched (clipped as in BLEU) and missed by the systems; and where it occurs.
function* countNgrams(order, systems) {
  const numbers = [];
  const found = new Map();
  const entry = (ngram, where) => {
    if (!found.has(ngram)) {
      found.set(ngram, { where, wanted: 0, produced: systems.map(() => 0), matched: systems.map(() => 0), held: new Set() });
    }
    return found.get(ngram);
  };
  for (let sentence = 0; sentence < sentenceCount; sentence += 1) {
    if (sentence % 20 === 0) yield;
    const wanted = new Map();
    data.of_references.ids.forEach((texts, number) => {
      const ngrams = ngramsOf(texts[sentence], order, numbers);
      ngrams.forEach((ngram, place) => entry(ngram, ["of_references", number, sentence, place]));
      for (const [ngram, count] of countsOf(ngrams)) wanted.set(ngram, Math.max(count, wanted.get(ngram) || 0));
    });
    for (const [ngram, count] of wanted) {
      const known = found.get(ngram);
      known.wanted += count;
      known.held.add(sentence);
    }
    systems.forEach((system, column) => {
      const ngrams = ngramsOf(data.of_systems.ids[system][sentence], order, numbers);
      ngrams.forEach((ngram, place) => entry(ngram, ["of_systems", system, sentence, place]));
      for (const [ngram, count] of countsOf(ngrams)) {
        const known = found.get(ngram);
        known.produced[column] += count;
        known.matched[column] += Math.min(count, wanted.get(ngram) || 0);
        known.held.add(sentence);
      }
    });
  }
  return [...found.values()];
}

function ngramText([side, number, sentence, place], order) {
  const places = placesOf(data[side].steps[number][sentence]);
  return data[side].texts[number][sentence].slice(places[place][0], places[place + order - 1][1]);
}

function ngramTable(title, header, ngrams, key, cells, order) {
  const top = ngrams.filter((ngram) => key(ngram) > 0).sort((a, b) => key(b) - key(a)).slice(0, SHOWN);
  const rows = top.map((ngram) => {
    const text = ngramText(ngram.where, order);
    const sentences = [...ngram.held];
    const button = make("button", { type: "button", dir: "auto", onclick: () => hold(sentences, text) });
    return make("tr", {}, make("td", {}, addText(button, text)),
      ...cells(ngram).map((cell) => make("td", {}, String(cell))), make("td", {}, String(sentences.length)));
  });
  if (!rows.length) rows.push(make("tr", {}, make("td", { colspan: String(header.length + 2) }, "none")));
  return make("div", { class: "wide" }, make("table", {}, make("caption", {}, title),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, `${order}-gram`),
      ...[...header, "sentences"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...rows)));
}

// The result of a count when it has finished; null if another count was requested in the meantime.
async function counting(steps) {
  const asked = counting.latest = {};
  for (;;) {
    const until = performance.now() + SLICE;
    while (performance.now() < until) {
      const { done, value } = steps.next();
      if (done) return value;
    }
    await new Promise((resolve) => { setTimeout(resolve, 0); });
    if (asked !== counting.latest) return null;
  }
}

async function showNgrams() {
  const order = Number(byId("length").value);
  const { first, second } = picked();
  const apart = several && first !== second;
  byId("tables").setAttribute("aria-busy", "true");
  const ngrams = await counting(countNgrams(order, apart ? [first, second] : [first]));
  if (!ngrams) return;
  const tables = [];
  const [one, other] = [data.systems[first], data.systems[second]];
  if (apart) {
    const header = ["by the first", "by the second"];
    tables.push(
      ngramTable(`Matched more often by ${one} than by ${other}`, header, ngrams,
        ({ matched }) => matched[0] - matched[1], ({ matched }) => matched, order),
      ngramTable(`Matched more often by ${other} than by ${one}`, header, ngrams,
        ({ matched }) => matched[1] - matched[0], ({ matched }) => [...matched].reverse(), order));
  }
  const header = ["produced", "matched", "in references"];
  const cells = ({ produced, matched, wanted }) => [produced[0], matched[0], wanted];
  tables.push(
    ngramTable(`Produced too often by ${one}`, header, ngrams, ({ produced, matched }) => produced[0] - matched[0], cells,
      order),
    ngramTable(`Missed by ${one}`, header, ngrams, ({ wanted, matched }) => wanted - matched[0], cells, order));
  byId("tables").replaceChildren(...tables);
  byId("tables").setAttribute("aria-busy", "false");
}
