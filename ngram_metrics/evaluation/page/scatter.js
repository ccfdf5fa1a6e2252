// Every segment as a point: its scores of the two systems that are compared. A point opens its segment.
const SQUARE = { left: 34, top: 10, size: WIDTH - 50 };
const REACH = 20;
const scatter = { points: [], current: null };

// A score above the end of the scale, such as an error rate, is at the edge.
const share = (score) => Math.min(score, END) / END;
const across = (score) => SQUARE.left + share(score) * SQUARE.size;
const upwards = (score) => SQUARE.top + (1 - share(score)) * SQUARE.size;

function drawFrame(svg) {
  for (const tick of QUARTERS) {
    svg.append(line("axis", across(tick), upwards(0), across(tick), upwards(END)),
      line("axis", across(0), upwards(tick), across(END), upwards(tick)),
      label(across(tick), upwards(0) + TEXT + 4, String(tick), "middle", "faint"),
      label(SQUARE.left - 6, upwards(tick) + 4, String(tick), "end", "faint"));
  }
  const bottom = upwards(0) + 2 * TEXT + 10;
  svg.append(line("diagonal", across(0), upwards(0), across(END), upwards(END)),
    systemLabel(across(0), bottom, state.second, SQUARE.size - widthOf(" →")),
    systemLabel(across(0) + 4, upwards(END) + TEXT + 2, state.first, SQUARE.size / 2));
}

function drawScatter() {
  byId("scatter").hidden = !several || state.first === state.second;
  if (byId("scatter").hidden) return;
  const [first, second] = [state.first, state.second].map((system) => data.scores[state.value][system]);
  scatter.points = first.map((score, segment) => ({ segment, x: across(second[segment]), y: upwards(score) }));
  scatter.points.sort((a, b) => a.x - b.x || b.y - a.y);
  scatter.current = null;
  const title = `Segments by their ${state.value}: ${data.systems[state.first]} (up) and ` +
    `${data.systems[state.second]} (to the right)`;
  const svg = chart(upwards(0) + 2 * TEXT + 16, title);
  svg.setAttribute("role", "application");
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("aria-describedby", "scatter-help");
  drawFrame(svg);
  svg.append(draw("path", { class: "points", d: scatter.points.map(({ x, y }) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("") }),
    draw("circle", { class: "current", r: 6, visibility: "hidden" }));
  svg.addEventListener("pointermove", (event) => point(nearest(svg, event)));
  svg.addEventListener("click", (event) => {
    point(nearest(svg, event));
    openPoint();
  });
  svg.addEventListener("keydown", stepPoint);
  const help = make("p", { class: "notes", id: "scatter-help" },
    "A click on a point opens its segment; so do the arrow keys and Enter.");
  showChart("scatter", title, svg, make("p", { id: "point", "aria-live": "polite" }), help);
}

// The point next to the pointer, if it is near enough.
function nearest(svg, { clientX, clientY }) {
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
  let [found, least] = [null, REACH ** 2];
  scatter.points.forEach((place, number) => {
    const apart = (place.x - x) ** 2 + (place.y - y) ** 2;
    if (apart < least) [found, least] = [number, apart];
  });
  return found;
}

function point(number) {
  if (number === null || number === scatter.current) return;
  scatter.current = number;
  const { segment, x, y } = scatter.points[number];
  const ring = byId("scatter").querySelector(".current");
  for (const [name, value] of Object.entries({ cx: x, cy: y, visibility: "visible" })) ring.setAttribute(name, value);
  const scores = [state.first, state.second].map((system) => shown(data.scores[state.value][system][segment]));
  byId("point").textContent = `Segment ${segment + 1}: ${scores[0]} and ${scores[1]}`;
}

function openPoint() {
  if (scatter.current !== null) open(scatter.points[scatter.current].segment);
}

function stepPoint(event) {
  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (by) point(Math.max(0, Math.min(scatter.points.length - 1, (scatter.current ?? -by) + by)));
  else if (event.key === "Enter") openPoint();
  else return;
  event.preventDefault();
}
