// Texts with their words shaded.

// Write characters that are invisible or change how others look as code points.
const HIDDEN = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff]" +
  "|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]", "g");

function addText(node, text) {
  let start = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    node.append(text.slice(start, found.index), make("span", { class: "code" }, `U+${code}`));
    start = found.index + found[0].length;
  }
  node.append(text.slice(start));
  return node;
}

// Where each word of a text begins and ends. The steps are the width of a gap, of the word after it, and so on.
function placesOf(steps) {
  const places = [];
  let place = 0;
  for (let index = 0; index < steps.length; index += 2) {
    const begin = place + steps[index];
    place = begin + steps[index + 1];
    places.push([begin, place]);
  }
  return places;
}

// A line with words shaded by their orders, one digit per word. Neighbours of the same order are joined.
function shadedLine(text, steps, orders, missed) {
  const line = make("span", { class: "line", dir: "auto" });
  const places = placesOf(steps);
  let done = 0;
  for (let first = 0; first < places.length;) {
    let last = first;
    while (last + 1 < places.length && orders[last + 1] === orders[first]) last += 1;
    const [begin, end] = [places[first][0], places[last][1]];
    addText(line, text.slice(done, begin));
    const order = orders[first];
    const title = order === "0" ? "unmatched" : `matched ${order}-gram${order === "1" ? "" : "s"}`;
    const name = order === "0" && missed ? "missed" : `o${order}`;
    line.append(addText(make("span", { class: name, title }), text.slice(begin, end)));
    done = end;
    first = last + 1;
  }
  return addText(line, text.slice(done));
}

// The largest order of each word.
function largest(all) {
  return [...all[0]].map((_, place) => all.map((orders) => orders[place]).sort().at(-1)).join("");
}
