// The page of a structure: its state, and what changes it.

const LAYERS = {
  points: "Points",
  bonds: "Bonds",
  ribbon: "Ribbon",
  links: "Given distances",
  reference: "Reference",
  errors: "Errors",
  violations: "Violations",
};

const FEW = 1000; // Up to so many points all is shown at first.

class StructureApp {
  constructor(data) {
    this.data = data;
    this.scene = new Scene(data);
    this.view = new View(false);
    this.painter = new StructurePainter(byId("points"));
    this.overlay = new StructureOverlay(byId("overlay"));
    this.surface = byId("overlay");
    this.highlighted = new Set();
    this.inspected = this.pinned = this.pair = -1;
    this.path = [];
    this.shiftMode = "pan";
    this.options = data.columns.map((column) => ({ title: column.name, column, isError: column.isError, note: column.note }));
    this.size = 1;
    this.limit = data.violations.limit;
    this.anchors = new Set(data.anchors);
    this.readWorst();
    this.chooseLayers();
  }

  // The worst violation of every point, as they come worst first.
  readWorst() {
    const { pairs } = this.data.violations;
    this.worst = new Int32Array(this.data.n).fill(-1);
    for (let k = pairs.length - 1; k >= 0; k--) this.worst[pairs[k]] = k >> 1;
  }

  chooseLayers() {
    const { data } = this;
    const has = {
      points: true,
      bonds: data.bonds.length > 0,
      ribbon: data.traces.length > 0,
      links: data.links.length > 0,
      reference: data.reference !== null,
      errors: data.reference !== null,
      violations: data.violations.excess.length > 0,
    };
    // Points without bonds and ribbons, such as sensors.
    this.isCloud = !has.bonds && !has.ribbon;
    // Atoms would hide their ribbon, and lines the points of a large network.
    const isFew = data.n <= FEW;
    this.layers = {
      ...has,
      points: isFew || !has.ribbon,
      links: has.links && this.isCloud && isFew,
      reference: has.reference && (isFew || !this.isCloud),
      errors: has.errors && this.isCloud && isFew,
    };
    this.available = Object.keys(LAYERS).filter((name) => has[name]);
  }

  start() {
    this.readTheme();
    this.view.fit(this.scene.box());
    byId("color-by").append(...this.options.map((o, i) => make("option", { value: i, text: o.title })));
    setMode(this, this.scene.isFlat ? "pan" : "rotate");
    this.colorBy(0);
    wireStructure(this);
    this.showLimit();
    showMarks(this);
    showPointPanel(this);
    new PointerControl(this, this.surface);
    new StructureKeys(this, this.surface);
    new ResizeObserver(() => this.fitSurface()).observe(this.surface.parentElement);
    this.fitSurface();
  }

  // --- what is drawn -----------------------------------------------------------------------

  readTheme() {
    this.isDark = document.documentElement.dataset.theme === "dark" && !matchMedia("print").matches;
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    this.colors = {
      ground: read("--map-ground"),
      ink: read("--ink"),
      soft: read("--soft"),
      accent: read("--accent"),
      reference: read("--reference"),
      tooLong: read("--too-long"),
      tooShort: read("--too-short"),
    };
  }

  colorBy(index) {
    this.option = this.options[index];
    byId("color-by").value = String(index);
    this.scheme = makeScheme(this.option);
    this.highlighted.clear();
    this.showMoves();
    this.recolor();
  }

  recolor() {
    this.table = tableOf(this.scheme, this.data.palette, this.isDark);
    this.painter.forget();
    drawLegend(this);
    this.repaint();
  }

  isHighlighted(point) {
    return this.highlighted.size === 0 || this.highlighted.has(this.scheme.shades[point]);
  }

  shadeOf(point) {
    return this.isHighlighted(point) ? this.scheme.shades[point] : MISSING_SHADE;
  }

  radiusOf(point) {
    return Math.max(LEAST_RADIUS, this.data.radius[point] * this.view.k * this.size);
  }

  // Kinds of sticks that are shown, and their widths in pixels.
  stickKinds() {
    const { layers, data } = this;
    const kinds = [];
    const isHurried = this.isMoving && data.n > FEW;
    const hasSticks = layers.points || !data.traces.length; // Of the reference; else its ribbon says enough.
    if (layers.errors && !isHurried) kinds.push("errors");
    if (layers.bonds) kinds.push("bonds");
    if (layers.reference && !isHurried && hasSticks) kinds.push("reference");
    if (layers.ribbon) kinds.push("ribbon");
    if (layers.reference) kinds.push("referenceRibbon");
    return kinds;
  }

  widthOf(kind) {
    const usual = this.usualRadius * this.view.k * this.size;
    if (kind === "errors") return 1.1;
    if (kind === "ribbon") return Math.min(40, Math.max(2.5, 3.4 * usual));
    if (kind === "referenceRibbon") return Math.min(12, Math.max(1.5, 1.1 * usual));
    if (kind === "reference") return Math.min(5, Math.max(0.8, 0.45 * usual));
    return Math.min(16, Math.max(1, 0.8 * usual));
  }

  get usualRadius() {
    return (this.usual ??= Array.from(this.data.radius).sort((a, b) => a - b)[this.data.n >> 1]);
  }

  fitSurface() {
    const { clientWidth: width, clientHeight: height } = this.surface.parentElement;
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.view.resize(width, height);
    this.painter.resize(width, height, ratio);
    this.overlay.resize(width, height, ratio);
    this.paintNow();
  }

  repaint() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => this.paintNow());
  }

  paintNow() {
    this.isAsked = false;
    const began = performance.now();
    this.painter.paint(this);
    this.overlay.draw(this);
    showStructureStatus(this);
    // For tests and benchmarks.
    this.surface.dataset.milliseconds = (performance.now() - began).toFixed(1);
    this.surface.dataset.turn = Array.from(this.scene.turn, (value) => value.toFixed(6)).join(" ");
  }

  redrawOverlay() {
    if (!this.isAsked) this.overlay.draw(this);
  }

  // --- what is asked -----------------------------------------------------------------------

  // Rotates about the point that was clicked, or else about the middle.
  rotate(right, down) {
    const { scene, view } = this;
    if (scene.isFlat) return;
    const before = this.pinned < 0 ? null : [scene.x[this.pinned], scene.y[this.pinned]];
    scene.rotate(right, down);
    if (before) {
      view.x += scene.x[this.pinned] - before[0];
      view.y += scene.y[this.pinned] - before[1];
    }
    this.moving();
    this.repaint();
  }

  // While a large structure moves some lines are left out; they are back when it rests.
  moving() {
    this.isMoving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.isMoving = false;
      this.repaint();
    }, 150);
  }

  // The front point under a place, or the nearest one.
  pointAt(sx, sy) {
    const { view, scene } = this;
    const [x, y] = [view.mapX(sx), view.mapY(sy)];
    let [best, depth, near, least] = [-1, -Infinity, -1, (REACH / view.k) ** 2];
    for (let i = 0; i < scene.n; i++) {
      const squared = (scene.x[i] - x) ** 2 + (scene.y[i] - y) ** 2;
      if (squared > least && squared * view.k ** 2 > this.radiusOf(i) ** 2) continue;
      if (!this.isHighlighted(i)) continue;
      if (squared * view.k ** 2 <= this.radiusOf(i) ** 2 && scene.z[i] > depth) [best, depth] = [i, scene.z[i]];
      if (squared < least) [near, least] = [i, squared];
    }
    return best >= 0 ? best : near;
  }

  hover(sx, sy) {
    this.inspect(this.pointAt(sx, sy), sx, sy);
  }

  inspect(point, sx = 0, sy = 0) {
    const isNew = point !== this.inspected;
    this.inspected = point;
    if (isNew) this.redrawOverlay();
    if (isNew || point >= 0) showPointTooltip(this, sx, sy);
  }

  click(sx, sy) {
    this.pin(this.pointAt(sx, sy));
  }

  pin(point) {
    this.pinned = point;
    showPointPanel(this);
    this.repaint();
    if (point >= 0) say(`${cut(nameOf(this, point), 60)} is kept.`);
  }

  // Goes to another point by the keyboard.
  step(by) {
    const { n } = this.data;
    const from = this.inspected >= 0 ? this.inspected : this.pinned >= 0 ? this.pinned : by > 0 ? -1 : n;
    const point = (from + by + n) % n;
    const { scene, view } = this;
    view.reveal(scene.x[point], scene.y[point]);
    this.inspect(point, view.screenX(scene.x[point]), view.screenY(scene.y[point]));
    this.repaint();
    const facts = factsOfPoint(this, point).map(([name, text]) => `${name} ${text}`);
    say(`${cut(nameOf(this, point), 60)}: ${facts.join("; ")}`);
  }

  isAnchor(point) {
    return this.anchors.has(point);
  }

  worstPairOf(point) {
    return this.worst[point];
  }

  pairsOf(point) {
    const { pairs } = this.data.violations;
    const found = [];
    for (let k = 0; k < pairs.length; k += 2) if (pairs[k] === point || pairs[k + 1] === point) found.push(k / 2);
    return found;
  }

  partner(pair, point) {
    const { pairs } = this.data.violations;
    return nameOf(this, pairs[2 * pair] === point ? pairs[2 * pair + 1] : pairs[2 * pair]);
  }

  // How many of the violations, which come worst first, are larger than the limit.
  drawnViolations() {
    const { excess } = this.data.violations;
    let [low, high] = [0, excess.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Math.abs(excess[middle]) > this.limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  showPair(pair) {
    const { view, scene } = this;
    const { pairs } = this.data.violations;
    this.pair = pair;
    for (const button of document.querySelectorAll("[data-pair]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.pair) === pair));
    }
    if (pair >= 0) {
      const [a, b] = [pairs[2 * pair], pairs[2 * pair + 1]];
      view.reveal((scene.x[a] + scene.x[b]) / 2, (scene.y[a] + scene.y[b]) / 2);
      say(`${cut(nameOf(this, a), 60)} and ${cut(nameOf(this, b), 60)}: ${excessText(this, pair)}, ${pairText(this, pair)}`);
    }
    this.repaint();
  }

  stepPair(by) {
    const n = this.data.violations.excess.length;
    if (n) this.showPair(this.pair < 0 ? (by > 0 ? 0 : n - 1) : (this.pair + by + n) % n);
  }

  toggleHighlight(shade) {
    if (!this.highlighted.delete(shade)) this.highlighted.add(shade);
    drawLegend(this);
    this.repaint();
  }

  toggleLayer(name) {
    if (!this.available.includes(name)) return;
    this.layers[name] = !this.layers[name];
    byId(`layer-${name}`).setAttribute("aria-pressed", String(this.layers[name]));
    say(`${LAYERS[name]}: ${this.layers[name] ? "shown" : "hidden"}`);
    this.repaint();
  }

  // Colors what moves, and goes back to the colors of before.
  toggleMoves() {
    const moves = this.options.findIndex((option) => option.column.key === "moves");
    const now = this.options.indexOf(this.option);
    this.colorBy(now === moves ? (this.earlier ?? 0) : moves);
    this.earlier = now;
    say(`Colored by ${this.option.title}`);
  }

  showMoves() {
    byId("floppy")?.setAttribute("aria-pressed", String(this.option.column.key === "moves"));
  }

  setLimit(limit) {
    this.limit = limit;
    byId("limit-text").textContent = withUnit(this, limit);
    byId("limit").setAttribute("aria-valuetext", withUnit(this, limit));
    this.repaint();
  }

  // The slider is finer where violations are small, and most are.
  showLimit() {
    const worst = Math.abs(this.data.violations.excess[0] || 0);
    byId("violations-panel").hidden = worst === 0;
    if (worst === 0) return;
    byId("limit").value = String(Math.sqrt(this.limit / worst));
    byId("limit").addEventListener("input", (event) => this.setLimit(worst * Number(event.target.value) ** 2));
    this.setLimit(this.limit);
  }

  zoomBy(factor) {
    this.view.zoom(factor);
    this.inspect(-1);
    this.repaint();
  }

  reset() {
    this.inspect(-1);
    this.scene.reset();
    this.view.fit(this.scene.box());
    this.repaint();
  }

  // One thing at a time.
  escape() {
    if (this.inspected >= 0) this.inspect(-1);
    else if (this.pair >= 0) this.showPair(-1);
    else if (this.pinned >= 0) this.pin(-1);
    else if (this.highlighted.size) {
      this.highlighted.clear();
      drawLegend(this);
      this.repaint();
    }
  }
}

function wireStructure(app) {
  const onClick = (id, action) => byId(id).addEventListener("click", action);
  byId("color-by").addEventListener("change", (event) => app.colorBy(Number(event.target.value)));
  onClick("zoom-in", () => app.zoomBy(1.6));
  onClick("zoom-out", () => app.zoomBy(1 / 1.6));
  onClick("reset", () => app.reset());
  onClick("mode-rotate", () => setMode(app, "rotate"));
  onClick("mode-pan", () => setMode(app, "pan"));
  onClick("point-clear", () => app.pin(-1));
  onClick("theme", () => switchTheme(app));
  const toggle = (id, text, isOn, action) => {
    const button = make("button", { type: "button", class: "tool", id, text, "aria-pressed": String(isOn) });
    button.addEventListener("click", action);
    byId("layers").append(button);
  };
  for (const name of app.available) toggle(`layer-${name}`, LAYERS[name], app.layers[name], () => app.toggleLayer(name));
  toggle("floppy", "What moves", false, () => app.toggleMoves());
  app.showMoves();
  byId("point-size").addEventListener("input", (event) => {
    app.size = 1.25 ** Number(event.target.value);
    app.repaint();
  });
  for (const button of document.querySelectorAll("[data-pair]")) {
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const pair = Number(button.dataset.pair);
      app.showPair(pair === app.pair ? -1 : pair);
      byId("map-title").scrollIntoView({ block: "start" });
    });
  }
  matchMedia("print").addEventListener("change", () => retheme(app));
}

(async () => {
  try {
    const app = new StructureApp(await readStructure(JSON.parse(byId("manifest").textContent)));
    app.start();
    byId("loading").remove();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    byId("loading").textContent = `The structure cannot be shown. ${error.message}`;
    document.documentElement.dataset.ready = "failed";
  }
})();
