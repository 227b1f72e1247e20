// The page: state of the map, and what changes it.

class App {
  constructor(data) {
    this.data = data;
    this.view = new View(data.dims === 1);
    this.painter = new Painter(byId("points"));
    this.overlay = new Overlay(byId("overlay"));
    this.surface = byId("overlay");
    this.selection = new Selection(data.n);
    this.highlighted = new Set();
    this.inspected = this.pinned = -1;
    this.back = null;
    this.path = [];
    this.mode = "pan";
    this.shiftMode = "lasso";
    this.options = colorOptions(data);
    this.meanDistortion = meanDistortion(data, data.distortion.keys());
    this.shownAxes = [0, Math.min(1, data.dims - 1)];
    this.turn = [0, 0];
    this.layers = data.density ? new Layers(this) : null;
  }

  start() {
    this.readTheme();
    this.chooseAxes();
    const first = this.data.columns.length && this.data.hasLabel ? 0 : this.options.findIndex((o) => o.isError);
    byId("color-by").append(...this.options.map((o, i) => make("option", { value: i, text: o.title })));
    byId("color-by").value = String(first);
    this.colorBy(first);
    wire(this);
    showPoint(this);
    showSelection(this);
    new PointerControl(this, this.surface);
    new KeyControl(this, this.surface);
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
      accent: read("--accent"),
      true: read("--true"),
      long: read("--long"),
      short: read("--short"),
      heat: read("--heat"),
      heatEnd: read("--heat-end"),
    };
    this.layers?.recolor();
  }

  chooseAxes() {
    this.turn = [0, 0];
    this.project();
    this.view.fit(this.box);
  }

  // The part of the plane that has points, or rows of the density.
  get box() {
    const { box } = this.grid;
    if (!this.layers?.isKnown) return box;
    const rows = this.data.density.box;
    return {
      x0: Math.min(box.x0, rows.x0),
      x1: Math.max(box.x1, rows.x1),
      y0: Math.min(box.y0, rows.y0),
      y1: Math.max(box.y1, rows.y1),
    };
  }

  // Places of all points on the plane that is shown.
  project() {
    const { axes, dims, n } = this.data;
    const [a, b] = this.shownAxes;
    this.xs = axes[a];
    this.ys = dims === 1 ? new Float32Array(n) : axes[b];
    if (this.turn.some((angle) => angle !== 0)) this.projectTurned();
    this.grid = makeGrid(this.xs, this.ys);
    if (this.scheme) this.sortShades();
  }

  projectTurned() {
    const { axes, n } = this.data;
    const [x, y] = [this.xs, this.ys];
    const z = axes[axes.findIndex((_, axis) => !this.shownAxes.includes(axis))];
    const [cos, sin] = [Math.cos(this.turn[0]), Math.sin(this.turn[0])];
    const [cosUp, sinUp] = [Math.cos(this.turn[1]), Math.sin(this.turn[1])];
    this.xs = new Float32Array(n);
    this.ys = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      const depth = z[i] * cos - x[i] * sin;
      this.xs[i] = x[i] * cos + z[i] * sin;
      this.ys[i] = y[i] * cosUp - depth * sinUp;
    }
  }

  // Turns a map of three dimensions; of more, the first that is not shown comes in.
  rotate(right, down) {
    if (this.data.dims < 3) return;
    this.turn = [this.turn[0] + right, this.turn[1] + down];
    if (this.isTurning) return;
    this.isTurning = true;
    requestAnimationFrame(() => {
      this.isTurning = false;
      this.project();
      this.view.box = this.box;
      this.paintNow();
    });
  }

  colorBy(index) {
    this.option = this.options[index];
    this.scheme = makeScheme(this.option);
    this.highlighted.clear();
    this.sortShades();
    this.recolor();
  }

  recolor() {
    this.table = tableOf(this.scheme, this.data.palette, this.isDark);
    drawLegend(this);
    this.repaint();
  }

  sortShades() {
    const { order } = this.grid;
    this.sortedShades = new Uint8Array(order.length);
    for (let k = 0; k < order.length; k++) this.sortedShades[k] = this.scheme.shades[order[k]];
    this.sortActive();
  }

  // Which points are drawn in color: all, or those selected and highlighted.
  sortActive() {
    const { order } = this.grid;
    const { mask, count } = this.selection;
    byId("select-class").disabled = this.highlighted.size === 0;
    if (!count && !this.highlighted.size) {
      this.active = null;
      return;
    }
    this.active = new Uint8Array(order.length);
    for (let k = 0; k < order.length; k++) {
      const row = order[k];
      this.active[k] = (!count || mask[row]) && this.isHighlighted(row) ? 1 : 0;
    }
  }

  isHighlighted(row) {
    return this.highlighted.size === 0 || this.highlighted.has(this.scheme.shades[row]);
  }

  fitSurface() {
    const { clientWidth: width, clientHeight: height } = this.surface.parentElement;
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.view.resize(width, height);
    this.painter.resize(width, height, ratio);
    this.overlay.resize(width, height, ratio);
    this.layers?.painter.resize(width, height, ratio);
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
    this.layers?.paint();
    const seen = this.painter.paint({
      view: this.view,
      grid: this.grid,
      shades: this.sortedShades,
      active: this.active,
      table: this.table,
      kind: this.scheme.kind,
      ground: rgbOf(this.colors.ground),
      isClear: Boolean(this.layers) && this.layers.shown !== "sample",
      ranks: this.layers?.ranks,
      most: this.layers ? this.layers.most : Infinity,
    });
    this.overlay.draw(this);
    showStatus(this, seen);
    // For tests and benchmarks.
    this.surface.dataset.mode = seen.isDensity ? "density" : "points";
    this.surface.dataset.milliseconds = (performance.now() - began).toFixed(1);
  }

  redrawOverlay() {
    if (!this.isAsked) this.overlay.draw(this);
  }

  // --- what is asked -----------------------------------------------------------------------

  // The nearest neighbors of a row in the data, with both distances and the rank on the map.
  neighborsOf(row) {
    if (this.cached && this.cached.row === row) return this.cached.pairs;
    const { near, axes, n, scale } = this.data;
    const at = (near.position ? near.position[row] : row) * near.k;
    const squared = (other) => {
      let sum = 0;
      for (const axis of axes) sum += (axis[other] - axis[row]) ** 2;
      return sum;
    };
    const pairs = Array.from({ length: near.k }, (_, k) => {
      const other = near.indices[at + k];
      const after = Math.sqrt(squared(other)) * scale;
      const before = near.before[at + k] * scale;
      return { row: other, before, after, verdict: verdictOf(before, after), rank: 1, squared: squared(other) };
    });
    for (let other = 0; other < n; other++) {
      if (other === row) continue;
      const d = squared(other);
      for (const pair of pairs) if (d < pair.squared) pair.rank++;
    }
    this.cached = { row, pairs };
    return pairs;
  }

  hasNeighbors(row) {
    return !this.data.near.position || this.data.near.position[row] >= 0;
  }

  hover(sx, sy) {
    const { view } = this;
    const allowed = this.highlighted.size ? (row) => this.isHighlighted(row) : null;
    const isNear = !view.isStrip || Math.abs(sy - view.baseline) < 60;
    const reach = REACH / view.k;
    const row = isNear ? nearestRow(this.grid, view.mapX(sx), view.mapY(sy), reach, allowed) : -1;
    this.inspect(row, sx, sy);
  }

  inspect(row, sx = 0, sy = 0) {
    const isNew = row !== this.inspected;
    this.inspected = row;
    if (isNew) this.redrawOverlay();
    if (isNew || row >= 0) showTooltip(this, sx, sy);
  }

  // Goes to a row by the keyboard.
  visit(row) {
    this.view.reveal(this.xs[row], this.ys[row]);
    this.inspect(row, this.view.screenX(this.xs[row]), this.view.screenY(this.ys[row]));
    this.repaint();
    const facts = factsOf(this, row).map(([name, text]) => `${name} ${cut(text, 60)}`);
    say(`Row ${grouped(numberOf(this.data, row))}: ${facts.join("; ")}`);
  }

  click(sx, sy) {
    const { view } = this;
    const allowed = (row) => this.isHighlighted(row);
    const [x, y] = [view.mapX(sx), view.mapY(sy)];
    const row = nearestRow(this.grid, x, y, REACH / view.k, allowed);
    if (row < 0 && canLookBack(this)) this.lookAt(x, y);
    else this.pin(row);
  }

  // Shows what a point at a place would look like.
  lookAt(x, y) {
    if (!canLookBack(this)) return;
    this.pinned = -1;
    this.back = lookBack(this, x, y);
    showPoint(this);
    this.repaint();
    const facts = guessesOf(this, this.back).map(([name, text]) => `${name} ${cut(text, 60)}`);
    say(`A point here: ${facts.join("; ")}${this.back.isOutside ? `. ${NO_DATA}` : ""}`);
  }

  // Shows the neighbors of a row, or of the next one whose neighbors were kept.
  pin(row) {
    this.asked = row;
    this.back = null;
    if (row >= 0 && !this.hasNeighbors(row)) {
      const [x, y] = [this.xs[row], this.ys[row]];
      row = nearestRow(this.grid, x, y, Infinity, (other) => this.hasNeighbors(other));
    }
    this.pinned = row;
    if (row >= 0) this.view.reveal(this.xs[row], this.ys[row]);
    showPoint(this);
    this.repaint();
    if (row >= 0) {
      const pairs = this.neighborsOf(row);
      const fine = pairs.filter((pair) => pair.verdict === "true").length;
      say(`Row ${grouped(numberOf(this.data, row))}: ${fine} of ${pairs.length} distances to its neighbors are true.`);
    }
  }

  select(rows, how = "replace") {
    this.selection.change(rows, how);
    this.sortActive();
    showSelection(this);
    this.repaint();
    say(`${grouped(this.selection.count)} rows selected.`);
  }

  toggleHighlight(shade) {
    if (!this.highlighted.delete(shade)) this.highlighted.add(shade);
    this.sortActive();
    drawLegend(this);
    this.repaint();
  }

  zoomBy(factor) {
    this.view.zoom(factor);
    this.inspect(-1);
    this.repaint();
  }

  reset() {
    this.inspect(-1);
    if (this.turn.some((angle) => angle !== 0)) this.chooseAxes();
    else this.view.fit(this.box);
    this.repaint();
  }

  // One thing at a time: what is inspected, then the point, then the selection, then the highlight.
  escape() {
    if (this.inspected >= 0) this.inspect(-1);
    else if (this.pinned >= 0 || this.back) this.pin(-1);
    else if (this.selection.count) this.select([]);
    else if (this.highlighted.size) {
      this.highlighted.clear();
      this.sortActive();
      drawLegend(this);
      this.repaint();
    }
  }
}
