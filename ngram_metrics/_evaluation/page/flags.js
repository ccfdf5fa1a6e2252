// Outputs with signs of trouble: how many each system has, and which.
const flagTitles = Object.entries(data.flags.titles).map(([flag, title]) => [Number(flag), title]);
const flagsOf = (system, segment) => parseInt(data.flags.of_systems[system][segment], 32);
const titlesOf = (flags) => flagTitles.filter(([flag]) => flags & flag).map(([, title]) => title);

const flagged = (system, flag) => data.lengths.map((_, segment) => segment)
  .filter((segment) => flagsOf(system, segment) & flag);

function flagCell(system, flag, title) {
  const segments = flagged(system, flag);
  if (!segments.length) return make("td", {}, "0");
  const show = () => {
    alsoShow(system);
    hold(segments, `${title}, ${data.systems[system]}`);
  };
  const hidden = make("span", { class: "hidden" }, ` segments of ${data.systems[system]}: ${title}`);
  return make("td", {}, make("button", { type: "button", onclick: show }, String(segments.length), hidden));
}

function startFlags() {
  const rows = every.map((system) => [make("th", { scope: "row" }, named(data.systems[system])),
    ...flagTitles.map(([flag, title]) => flagCell(system, flag, title))]);
  byId("flags-table").append(tableOf("Segments with each flag",
    [heading("system"), ...flagTitles.map(([, title]) => heading(title))], rows));
}
