// What is drawn of a map of many rows: all of them as density, a sample as points, or both.

const LAYERS = ["rows", "sample", "both"];
const ROOM = 18; // Pixels between points above the density; as you zoom in, there are more of them.

class Layers {
  constructor(app) {
    this.app = app;
    this.chosen = "both";
    const canvas = make("canvas", { id: "density", "aria-hidden": "true" });
    app.painter.canvas.before(canvas);
    this.painter = new DensityPainter(app.data.density, canvas);
    this.ranks = ranksOf(app.data.n);
    for (const layer of LAYERS) byId(`layer-${layer}`).addEventListener("click", () => this.choose(layer));
  }

  // Rows are counted along the first axes only.
  get isKnown() {
    const { app } = this;
    const isFirst = app.shownAxes.every((axis, i) => axis === Math.min(i, app.data.dims - 1));
    return isFirst && app.turn.every((angle) => angle === 0);
  }

  get shown() {
    return this.isKnown ? this.chosen : "sample";
  }

  choose(layer) {
    this.chosen = layer;
    for (const other of LAYERS) byId(`layer-${other}`).setAttribute("aria-pressed", String(other === layer));
    this.recolor();
    this.app.repaint();
  }

  // How many points are drawn: all, none, or those of the lowest ranks.
  get most() {
    const { app, shown } = this;
    if (shown === "rows") return 0;
    if (shown === "sample") return Infinity;
    if (app.active) return MOST_POINTS;
    // By the zoom alone, so that no point comes or goes while the map is moved.
    const { box, k } = app.view;
    const wide = ((box.x1 - box.x0) * k) / ROOM;
    return Math.ceil(app.view.isStrip ? wide : wide * Math.max(1, ((box.y1 - box.y0) * k) / ROOM));
  }

  recolor() {
    this.painter.recolor(densityRamp(this.app.colors, this.chosen === "both"));
    this.drawn = null;
  }

  paint() {
    const { app, shown, painter } = this;
    if (shown === "sample") painter.clear();
    const level = shown === "sample" ? null : painter.paint(app.view);
    if (level === this.level && shown === this.drawn) return;
    this.level = level;
    this.drawn = shown;
    this.drawLegend();
  }

  drawLegend() {
    const legend = byId("density-legend");
    const { app, level } = this;
    if (!level) {
      const text = this.isKnown
        ? "The density is not shown."
        : "The density is known for axis 1 across and axis 2 up, without rotation.";
      legend.replaceChildren(make("p", { class: "empty", text }));
      return;
    }
    const width = number(level.pixel * app.data.scale, 2);
    const { most } = level.range;
    const parts = [];
    if (app.view.isStrip) {
      parts.push(make("p", { class: "quiet", text: `Bars are ${width} wide; their heights are numbers of rows.` }));
    } else {
      parts.push(this.bar());
      const text =
        `Rows per pixel, on a logarithmic scale. A pixel is ${width} wide here; the fullest of the ` +
        `map holds ${grouped(Math.round(most))} ${most === 1 ? "row" : "rows"}.`;
      parts.push(make("p", { class: "quiet", text }));
    }
    legend.replaceChildren(...parts);
  }

  bar() {
    const { low, high, most } = this.level.range;
    const canvas = make("canvas", { class: "color-bar", width: 256, height: 1, role: "img" });
    canvas.setAttribute("aria-label", `${grouped(Math.round(low))} to ${grouped(Math.round(high))} rows per pixel`);
    const context = canvas.getContext("2d");
    this.painter.ramp.forEach((word, shade) => {
      context.fillStyle = cssOf(word);
      context.fillRect(shade, 0, 1, 1);
    });
    const texts = [
      (low > 1 ? "≤ " : "") + grouped(Math.round(low)),
      grouped(Math.round(Math.sqrt(low * high))),
      (most > high ? "≥ " : "") + grouped(Math.round(high)),
    ];
    return make("div", {}, canvas, make("div", { class: "bar-ends" }, ...texts.map((text) => make("span", { text }))));
  }
}

// Points in an order by chance, the same whenever the page is opened: any first ones are a sample.
function ranksOf(n) {
  const ranks = Uint32Array.from({ length: n }, (_, i) => i);
  let state = 1;
  for (let i = n - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 2 ** 32) * (i + 1));
    [ranks[i], ranks[j]] = [ranks[j], ranks[i]];
  }
  return ranks;
}
