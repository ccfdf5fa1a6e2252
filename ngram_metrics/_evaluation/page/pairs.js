// The p-values of all pairs of systems; those in the table of systems compare with the baseline only.
const SIGNIFICANT = 0.05;

function pairsNote(systems) {
  const pairs = systems.length * (systems.length - 1) / 2;
  const draws = data.draws[state.value].flat().filter(Boolean);
  const span = [...new Set([Math.min(...draws), Math.max(...draws)])].join(" to ");
  const what = `P-values of ${state.value}: a paired ${data.test.name} test for each of the ${pairs} pairs of systems, ` +
    `of ${span} draws. `;
  if (!data.test.corrected) return `${what}They are not corrected. Below ${SIGNIFICANT} they are bold.`;
  return `${what}Holm's correction takes all ${pairs} into account; in the table of systems only the ` +
    `${systems.length - 1} comparisons with ${data.systems[BASELINE]}, so p-values differ. Below ${SIGNIFICANT} they are bold.`;
}

function drawPairs() {
  if (byId("pairs").hidden) return;
  const systems = ranked();
  const table = data.p_values[state.value];
  const numbered = (system, row) => [`${row + 1} `, make("span", { class: "hidden" }, data.systems[system])];
  const rows = systems.map((system, row) => [
    make("th", { scope: "row" }, `${row + 1} `, named(data.systems[system])),
    ...systems.map((other) => {
      const chance = table[system][other];
      if (chance === null) return make("td", { class: "itself" });
      const title = `${data.draws[state.value][system][other]} draws`;
      return make("td", { title, ...(chance < SIGNIFICANT && { class: "significant" }) }, chance.toFixed(4));
    })]);
  const header = [heading("system"), ...systems.map((system, row) => heading(...numbered(system, row)))];
  byId("pairs-table").replaceChildren(
    make("p", { class: "notes" }, pairsNote(systems)), tableOf(`P-values of ${state.value}`, header, rows));
}

function startPairs() {
  byId("pairs").hidden = every.length < 3;
  byId("pairs-link").hidden = every.length < 3;
}
