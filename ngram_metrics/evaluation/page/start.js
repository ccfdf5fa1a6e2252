// The actions of the controls and of the keys, and the address of the page.
function afterChoice() {
  drawPictures();
  arrange();
}

function showHash() {
  const found = /^#s=(\d+)$/.exec(location.hash);
  if (!found) return;
  const sentence = Number(found[1]) - 1;
  if (sentence >= 0 && sentence < sentenceCount) goTo(sentence);
  else tell(`there is no sentence ${found[1]}`);
}

function start() {
  addLegend();
  startSystems();
  const names = data.systems.map((name, number) => [String(number), name]);
  addOptions(byId("value"), data.values.map((value) => [value, value]), state.value);
  const first = best.find((number) => number !== 0) ?? 0;
  addOptions(byId("first"), names, String(first));
  addOptions(byId("second"), names, "0");
  addOptions(byId("marked"), [["chosen", "all chosen systems"], ...names], "chosen");
  const orders = Object.entries(ORDERS).map(([key, [label]]) => [key, label]).slice(several ? 0 : 3);
  addOptions(byId("order"), orders, orders[0][0]);
  addOptions(byId("length"), Array.from({ length: data.orders }, (_, n) => [String(n + 1), String(n + 1)]), "1");
  for (const label of document.querySelectorAll(".second")) label.hidden = !several;
  byId("chosen").append(...names.map(([value, name]) => {
    const box = make("input", { type: "checkbox", value });
    box.checked = chosen.has(Number(value));
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(Number(value));
      else if (chosen.size > 1) chosen.delete(Number(value));
      else {
        box.checked = true;
        tell("one system stays");
        return;
      }
      afterChoice();
    });
    return make("label", {}, box, " ", make("bdi", {}, name));
  }));
  byId("value").addEventListener("change", () => {
    state.value = byId("value").value;
    afterChoice();
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("order").addEventListener("change", arrange);
  byId("marked").addEventListener("change", showPage);
  for (const name of ["first", "second"]) {
    byId(name).addEventListener("change", () => {
      chosen.add(Number(byId(name).value));
      byId("chosen").querySelectorAll("input")[Number(byId(name).value)].checked = true;
      afterChoice();
      showNgrams();
    });
  }
  byId("length").addEventListener("change", showNgrams);
  byId("search").addEventListener("input", () => {
    arrange();
    tell(byId("range").textContent);
  });
  byId("back").addEventListener("click", () => turn(-1));
  byId("on").addEventListener("click", () => turn(1));
  byId("all").addEventListener("click", showAll);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "n" || event.key === "j") move(1);
    else if (event.key === "p" || event.key === "k") move(-1);
  });
  byId("list").addEventListener("focusin", (event) => {
    const article = event.target.closest("article");
    if (article) list.current = Number(article.id.slice("sentence-".length)) - 1;
  });
  addEventListener("hashchange", showHash);
  afterChoice();
  showHash();
  // The rest is below the first screen.
  setTimeout(showNgrams, 0);
}

start();
