// N-grams of one or two systems, counted on request, in slices of time too short to notice.
const SLICE = 20;
// Above the number of different words, and of n-grams, of any page; its square is below 2^53.
const MANY = 2 ** 26;

// The texts in which n-grams are counted: all references, then the systems.
const textsOf = (systems) => [...data.references.map((_, number) => data.of_references.ids[number]),
  ...systems.map((system) => data.of_systems.ids[system])];

// A function from the words of a text to the numbers of its n-grams by order; the texts that it has seen share them. A
// word has its own number, which is below `words`.
function numbering(longest, words) {
  const known = Array.from({ length: longest + 1 }, () => new Map());
  let count = words;
  return (ids) => {
    const found = [[], ids];
    for (let order = 2; order <= longest; order += 1) {
      const shorter = found[order - 1];
      const numbers = [];
      for (let place = 0; place + 1 < shorter.length; place += 1) {
        const key = shorter[place] * MANY + ids[place + order - 1];
        let number = known[order].get(key);
        if (number === undefined) known[order].set(key, number = count++);
        numbers.push(number);
      }
      found.push(numbers);
    }
    return found;
  };
}

// Counts by the number of the n-gram: wanted by the references, produced and matched (clipped as in BLEU) by each system,
// and of segments that hold it; its order, 0 if it was not asked for; and the text, the segment and the place where it
// was first seen.
function emptyCounts(size, systems) {
  const zeros = () => new Int32Array(size);
  return { wanted: zeros(), produced: systems.map(zeros), matched: systems.map(zeros), segments: zeros(),
    orders: zeros(), texts: zeros(), firsts: zeros(), places: zeros() };
}

function* countNgrams(orders, systems) {
  const texts = textsOf(systems);
  const longest = Math.max(...orders);
  const words = 1 + texts.flat().reduce((most, ids) => Math.max(most, ...ids), 0);
  const size = words + longest * texts.flat().reduce((sum, ids) => sum + ids.length, 0);
  const numbered = numbering(longest, words);
  const counts = emptyCounts(size, systems);
  const [times, wanted, seen] = [new Int32Array(size), new Int32Array(size), new Int32Array(size).fill(-1)];

  // The different n-grams of a text; `times` says how often each is in it.
  const tally = (text, segment) => {
    const different = [];
    const numbers = numbered(texts[text][segment]);
    for (const order of orders) {
      numbers[order].forEach((ngram, place) => {
        if (!times[ngram]) different.push(ngram);
        times[ngram] += 1;
        if (counts.orders[ngram]) return;
        counts.orders[ngram] = order;
        [counts.texts[ngram], counts.firsts[ngram], counts.places[ngram]] = [text, segment, place];
      });
    }
    return different;
  };
  const hold = (ngram, segment) => {
    if (seen[ngram] !== segment) counts.segments[ngram] += 1;
    seen[ngram] = segment;
  };

  for (let segment = 0; segment < segmentCount; segment += 1) {
    if (segment % 20 === 0) yield;
    const ofReferences = data.references.flatMap((_, number) => tally(number, segment).map((ngram) => {
      wanted[ngram] = Math.max(wanted[ngram], times[ngram]);
      times[ngram] = 0;
      return ngram;
    }));
    systems.forEach((_, column) => {
      for (const ngram of tally(data.references.length + column, segment)) {
        counts.produced[column][ngram] += times[ngram];
        counts.matched[column][ngram] += Math.min(times[ngram], wanted[ngram]);
        times[ngram] = 0;
        hold(ngram, segment);
      }
    });
    for (const ngram of ofReferences) {
      counts.wanted[ngram] += wanted[ngram];
      wanted[ngram] = 0;
      hold(ngram, segment);
    }
  }
  return counts;
}

// Whether a text has these words in a row.
const holdsWords = (ids, words) => ids.some((_, place) => words.every((word, number) => ids[place + number] === word));

function segmentsWith(words, systems) {
  const texts = textsOf(systems);
  return data.lengths.map((_, segment) => segment)
    .filter((segment) => texts.some((of) => holdsWords(of[segment], words)));
}

// The result of a count when it has finished; null if another count was requested in the meantime.
async function counting(steps) {
  const asked = counting.latest = {};
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, 0); });
    if (asked !== counting.latest) return null;
    const until = performance.now() + SLICE;
    while (performance.now() < until) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }
}
