// Updates after a choice, the keys, and the address of the page.
function showValue() {
  showColumns();
  drawGroups();
  arrange();
}

function showHash() {
  const found = /^#s=(\d+)$/.exec(location.hash);
  if (!found) return;
  const segment = Number(found[1]) - 1;
  if (segment >= 0 && segment < data.lengths.length) goTo(segment);
  else tell(`There is no segment ${found[1]}`);
}

function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "n" || event.key === "j") move(1);
    else if (event.key === "p" || event.key === "k") move(-1);
  });
}

function start() {
  for (const part of document.querySelectorAll(".second")) part.hidden = !several;
  startSystems();
  startGroups();
  startChoices({ ofValue: showValue, ofSystems: arrange });
  startFlags();
  startSegments();
  startKeys();
  addEventListener("hashchange", showHash);
  showValue();
  showHash();
}

start();
