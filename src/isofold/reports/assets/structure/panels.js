// Words about one point and about violated distances.

const LISTED_PAIRS = 12;

const nameOf = (app, point) => (app.data.names ? app.data.names[point] : String(point));

const withUnit = (app, value, digits = 3) => `${number(value, digits)} ${app.data.unit}`.trim();

function excessText(app, pair) {
  const excess = app.data.violations.excess[pair];
  return `${withUnit(app, Math.abs(excess))} too ${excess > 0 ? "long" : "short"}`;
}

// What is known of a point: pairs of name and text.
function factsOfPoint(app, point) {
  const facts = app.data.names ? [["number", String(point)]] : [];
  if (app.isAnchor(point)) facts.push(["anchor", "its place was given"]);
  for (const column of app.data.columns) {
    if (column.name === "point number") continue;
    const text = wordOf(column, point);
    facts.push([column.name, column.isError && text !== "missing" ? withUnit(app, column.values[point]) : text]);
  }
  const worst = app.worstPairOf(point);
  if (worst >= 0) facts.push(["violated most with", `${cut(app.partner(worst, point), 60)}, ${excessText(app, worst)}`]);
  return facts;
}

function showPointTooltip(app, x, y) {
  const tooltip = byId("tooltip");
  const point = app.inspected;
  if (point < 0) {
    tooltip.hidden = true;
    return;
  }
  const name = make("strong", {}, make("bdi", { text: cut(nameOf(app, point), 60) }));
  tooltip.replaceChildren(make("div", {}, name, factList(factsOfPoint(app, point))));
  placeTooltip(tooltip, x, y);
}

function showPointPanel(app) {
  const panel = byId("point-body");
  const point = app.pinned;
  byId("point-clear").hidden = point < 0;
  if (point < 0) {
    const text = "Click a point to see what is known of it and which of its distances are violated.";
    panel.replaceChildren(make("p", { class: "empty", text }));
    return;
  }
  const name = make("strong", {}, make("bdi", { text: cut(nameOf(app, point)) }));
  panel.replaceChildren(name, factList(factsOfPoint(app, point)), pairsOfPoint(app, point));
}

function pairsOfPoint(app, point) {
  const rows = app.pairsOf(point);
  if (!rows.length) return make("p", { class: "empty", text: "None of its given distances is violated." });
  const list = make("ul", { class: "notes" });
  for (const pair of rows.slice(0, LISTED_PAIRS)) {
    const button = make("button", { type: "button", class: "link" }, make("bdi", { text: cut(app.partner(pair, point), 60) }));
    button.addEventListener("click", () => app.showPair(pair));
    const side = app.data.violations.excess[pair] > 0 ? "long" : "short";
    const size = make("span", { class: `too-${side}`, text: ` ${excessText(app, pair)}` });
    list.append(make("li", {}, button, size, ` (${pairText(app, pair)})`));
  }
  const title = `${grouped(rows.length)} violated ${rows.length === 1 ? "distance" : "distances"}`;
  return make("div", {}, make("p", { class: "empty", text: title }), list);
}

// What else is drawn: the reference and the anchors.
function showMarks(app) {
  const mark = (kind, text) => make("li", {}, make("span", { class: kind }), text);
  const marks = [];
  if (app.data.reference) marks.push(mark("line line-reference", "reference"));
  if (app.data.anchors.length) marks.push(mark("anchor-mark", "anchor"));
  byId("marks").replaceChildren(...marks);
}

// What was given of a pair.
function pairText(app, pair) {
  const { codes, lower, upper } = app.data.violations;
  const kind = Object.values(app.data.kinds)[codes[pair]];
  const [low, high] = [lower[pair], upper[pair]];
  if (low === high) return `${kind} ${number(low, 4)}`;
  if (high === Infinity) return `${kind} ≥ ${number(low, 4)}`;
  return low === 0 ? `${kind} ≤ ${number(high, 4)}` : `${kind} ${number(low, 4)} to ${number(high, 4)}`;
}

function showStructureStatus(app) {
  const n = app.data.violations.excess.length;
  const drawn = app.layers.violations ? app.drawnViolations() : 0;
  const bad = n ? `; ${grouped(drawn)} of ${grouped(n)} violations drawn` : "";
  byId("status").textContent = `${grouped(app.data.n)} points${bad}`;
  showScale(app);
}
