// The reader's choices: the score, the system to compare with the baseline, and the systems to show.
const SHOWN_AT_FIRST = 4;
const BASELINE = 0;
// All systems in the caller's order. In the data the baseline comes first.
const every = data.given;
const others = every.filter((system) => system !== BASELINE);
const several = every.length > 1;
const state = { value: data.values[0], compared: BASELINE, chosen: new Set() };

const scoreOf = (system) => data.entries[system][state.value][0];
// Without a choice all systems are shown.
const chosenSystems = () => every.filter((system) => state.chosen.has(system) || !state.chosen.size);

// At first show the baseline and the best systems, and compare the best one with the baseline.
function chooseAtFirst() {
  const best = [...others].sort((a, b) => scoreOf(b) - scoreOf(a));
  state.compared = best[0] ?? BASELINE;
  state.chosen = new Set([BASELINE, ...best.slice(0, SHOWN_AT_FIRST - 1)]);
}

function boxOf(system, changed) {
  const box = make("input", { type: "checkbox", value: String(system) });
  box.checked = state.chosen.has(system);
  box.addEventListener("change", () => {
    if (box.checked) state.chosen.add(system);
    else state.chosen.delete(system);
    changed();
  });
  return make("label", {}, box, " ", named(data.systems[system]));
}

// Once a system is asked for, it stays visible.
function alsoShow(system) {
  state.chosen.add(system);
  byId("chosen").querySelector(`[value="${system}"]`).checked = true;
}

function startChoices({ ofValue, ofSystems }) {
  chooseAtFirst();
  addOptions(byId("value"), data.values.map((value) => [value, value]), state.value);
  byId("value").addEventListener("change", () => {
    state.value = byId("value").value;
    ofValue();
  });
  addOptions(byId("compared"), others.map((system) => [String(system), data.systems[system]]), String(state.compared));
  byId("compared").addEventListener("change", () => {
    state.compared = Number(byId("compared").value);
    alsoShow(state.compared);
    ofSystems();
  });
  byId("chosen").append(...every.map((system) => boxOf(system, ofSystems)));
}
