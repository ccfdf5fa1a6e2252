// What follows a choice, the keys, and the address of the page.
function drawCharts() {
  drawIntervals();
  drawDistribution();
  drawLengths();
  drawAccuracy();
  drawGroups();
}

function showEverything() {
  showSystems();
  drawCharts();
  drawScatter();
  drawPairs();
  arrange();
}

function showHash() {
  const found = /^#s=(\d+)$/.exec(location.hash);
  if (!found) return;
  const segment = Number(found[1]) - 1;
  if (segment >= 0 && segment < segmentCount) goTo(segment);
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
  addLegend();
  startSystems();
  startPairs();
  startGroups();
  startChoices({
    ofValue: showEverything,
    ofSystems: () => {
      drawCharts();
      arrange();
    },
    ofPair: () => {
      drawCharts();
      drawScatter();
      arrange();
      showNgrams();
    },
  });
  startFlags();
  startSegments();
  startNgrams();
  startKeys();
  addEventListener("hashchange", showHash);
  showEverything();
  showHash();
  // The rest is below the first screen.
  setTimeout(showNgrams, 0);
}

start();
