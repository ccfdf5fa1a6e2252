// Shared by all scripts: the data, and functions that make elements. Text becomes nothing but text nodes.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (name) => document.getElementById(name);

function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
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

const named = (name) => make("bdi", { class: "name" }, name);
const heading = (...children) => make("th", { scope: "col" }, ...children);

// A table that scrolls sideways, also by keys, if the screen is too narrow.
function tableOf(caption, header, rows) {
  return fadeAtEnd(make("div", { class: "wide", role: "region", tabindex: "0", "aria-label": caption },
    make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...header)),
      make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells))))));
}

// The right edge of a table fades while there are columns beyond it.
function fadeAtEnd(box) {
  const mark = () => box.classList.toggle("more", box.scrollLeft + box.clientWidth + 1 < box.scrollWidth);
  const observer = new ResizeObserver(mark);
  observer.observe(box);
  observer.observe(box.firstElementChild);
  box.addEventListener("scroll", mark);
  return box;
}

function tell(words) {
  byId("status").textContent = words;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { byId("status").textContent = ""; }, 4000);
}

const shown = (score) => score.toFixed(data.digits);
const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
