// Shared by all scripts: the data, the choices, and functions that make elements. Text only becomes text nodes.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (name) => document.getElementById(name);
const several = data.systems.length > 1;
const sentenceCount = data.lengths.length;

// The systems shown first: the baseline, and the best of the others.
const AT_FIRST = 4;
const best = data.systems.map((_, number) => number)
  .sort((a, b) => data.entries[b][data.values[0]][0] - data.entries[a][data.values[0]][0]);
const chosen = new Set([0, ...best.filter((number) => number !== 0).slice(0, AT_FIRST - 1)]);
const state = { value: data.values[0] };

function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

function addOptions(select, names, picked) {
  select.replaceChildren(...names.map(([value, label]) => make("option", { value }, label)));
  select.value = picked;
}

function tell(words) {
  byId("status").textContent = words;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { byId("status").textContent = ""; }, 4000);
}

const shown = (score) => score.toFixed(data.digits);
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const chosenSystems = () => data.systems.map((_, number) => number).filter((number) => chosen.has(number));
