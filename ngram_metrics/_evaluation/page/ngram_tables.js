// The n-grams that make the difference, ranked by a smoothed log-ratio of two counts.
const SHOWN = 15;
const LENGTHS = { "2-4": [2, 3, 4], 1: [1], 2: [2], 3: [3], 4: [4] };
// 1 is added to both counts, as in compare-mt: 9 against 0 ranks before 1 against 0, and 900 against 800 after both.
const logRatio = (more, less) => Math.log2((more + 1) / (less + 1));

// What each table compares: two counts of each n-gram.
function comparisons(counts, systems) {
  const [one, other] = systems.map((system) => data.systems[system]);
  const { wanted, produced, matched } = counts;
  const ofPair = (first, second, title) => ({
    title, names: ["matched", "by the other"], pair: (ngram) => [matched[first][ngram], matched[second][ngram]],
  });
  const tables = systems.length < 2 ? [] : [
    ofPair(0, 1, `Matched more often by ${one} than by ${other}`),
    ofPair(1, 0, `Matched more often by ${other} than by ${one}`),
  ];
  return [...tables,
    { title: `Produced without a match by ${one}`, names: ["unmatched", "matched"],
      pair: (ngram) => [produced[0][ngram] - matched[0][ngram], matched[0][ngram]] },
    { title: `In the references, missed by ${one}`, names: ["missed", "matched"],
      pair: (ngram) => [wanted[ngram] - matched[0][ngram], matched[0][ngram]] },
  ];
}

// An n-gram, from where it was first seen: the numbers of its words, and its words with what stands before each.
function wordsOf(ngram, counts, systems) {
  const [text, segment, place] = [counts.texts[ngram], counts.firsts[ngram], counts.places[ngram]];
  const number = text - data.references.length;
  const side = number < 0 ? data.of_references : data.of_systems;
  const of = (all) => all[number < 0 ? text : systems[number]][segment];
  const part = (all) => all.slice(place, place + counts.orders[ngram]);
  const places = part(placesOf(of(side.steps)));
  return {
    ids: part(of(side.ids)),
    words: places.map(([begin, end], at) =>
      [at ? of(side.texts).slice(places[at - 1][1], begin) : "", of(side.texts).slice(begin, end)]),
  };
}

// The first n-grams by their log-ratio; one that is part of a longer one with the same counts says nothing more.
function topNgrams(counts, systems, pairOf) {
  const ranks = [];
  counts.orders.forEach((order, ngram) => {
    const pair = order ? pairOf(ngram) : [0, 0];
    if (pair[0] > pair[1]) ranks.push({ ngram, order, pair, ratio: logRatio(...pair) });
  });
  ranks.sort((a, b) => b.ratio - a.ratio || b.pair[0] - a.pair[0] || b.order - a.order || a.ngram - b.ngram);
  const top = [];
  for (const rank of ranks) {
    const each = { ...rank, ...wordsOf(rank.ngram, counts, systems) };
    const holdsIt = ({ pair, ids }) => String(pair) === String(each.pair) && holdsWords(ids, each.ids);
    if (!top.some(holdsIt)) top.push(each);
    if (top.length === SHOWN) break;
  }
  return top;
}

function ngramButton({ ids, words }, systems) {
  const show = () => hold(segmentsWith(ids, systems), words.flat().join(""));
  const button = make("button", { type: "button", dir: "auto", onclick: show });
  for (const [between, word] of words) {
    addText(button, between);
    button.append(addText(make("span", { class: "word" }), word));
  }
  return button;
}

function ngramTable(counts, systems, { title, names, pair }) {
  const rows = topNgrams(counts, systems, pair).map((each) => [make("td", {}, ngramButton(each, systems)),
    ...each.pair.map((count) => make("td", {}, String(count))), make("td", {}, each.ratio.toFixed(2)),
    make("td", {}, String(counts.segments[each.ngram]))]);
  if (!rows.length) rows.push([make("td", { colspan: "5" }, "none")]);
  return tableOf(title, ["n-gram", ...names, "log-ratio", "segments"].map((name) => heading(name)), rows);
}

async function showNgrams() {
  const systems = several && state.first !== state.second ? [state.first, state.second] : [state.first];
  byId("tables").setAttribute("aria-busy", "true");
  const counts = await counting(countNgrams(LENGTHS[byId("length").value], systems));
  if (!counts) return;
  byId("tables").replaceChildren(...comparisons(counts, systems).map((each) => ngramTable(counts, systems, each)));
  byId("tables").setAttribute("aria-busy", "false");
}

function startNgrams() {
  addOptions(byId("length"), [["2-4", "2 to 4"], ...["1", "2", "3", "4"].map((order) => [order, order])], "2-4");
  byId("length").addEventListener("change", showNgrams);
}
