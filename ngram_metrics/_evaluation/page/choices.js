// What the reader chooses: the score, the systems that are shown, and the two that are compared.
const SHOWN_AT_FIRST = 4;
const BASELINE = 0;
const every = data.systems.map((_, system) => system);
const several = every.length > 1;
const segmentCount = data.lengths.length;
const state = { value: data.values[0], first: BASELINE, second: BASELINE, chosen: new Set() };

// 1 if a higher score is better, else -1.
const sign = () => data.signs[state.value];
const scoreOf = (system) => data.entries[system][state.value][0];
// The best system by the chosen score is first.
const ranked = () => [...every].sort((a, b) => sign() * (scoreOf(b) - scoreOf(a)));
const chosenSystems = () => every.filter((system) => state.chosen.has(system));

// At first the best systems are shown beside the baseline, and the best of them is compared with it.
function chooseAtFirst() {
  const others = ranked().filter((system) => system !== BASELINE);
  state.first = others[0] ?? BASELINE;
  state.chosen = new Set([BASELINE, ...others.slice(0, SHOWN_AT_FIRST - 1)]);
}

function boxOf(system, changed) {
  const box = make("input", { type: "checkbox", value: String(system) });
  box.checked = state.chosen.has(system);
  box.addEventListener("change", () => {
    if (box.checked) state.chosen.add(system);
    else state.chosen.delete(system);
    if (state.chosen.size) {
      changed();
      return;
    }
    state.chosen.add(system);
    box.checked = true;
    tell("At least one system is shown");
  });
  return make("label", {}, box, " ", named(data.systems[system]));
}

// A system that is asked for is shown from then on.
function alsoShow(system) {
  state.chosen.add(system);
  byId("chosen").querySelector(`[value="${system}"]`).checked = true;
}

function startChoices({ ofValue, ofSystems, ofPair }) {
  chooseAtFirst();
  const names = data.systems.map((name, system) => [String(system), name]);
  addOptions(byId("value"), data.values.map((value) => [value, value]), state.value);
  byId("value").addEventListener("change", () => {
    state.value = byId("value").value;
    ofValue();
  });
  for (const side of ["first", "second"]) {
    addOptions(byId(side), names, String(state[side]));
    byId(side).addEventListener("change", () => {
      state[side] = Number(byId(side).value);
      alsoShow(state[side]);
      ofPair();
    });
  }
  byId("chosen").append(...every.map((system) => boxOf(system, ofSystems)));
}
