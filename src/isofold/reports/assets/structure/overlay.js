// What lies above the structure: violated distances, the pair and the points that are meant.

class StructureOverlay {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  resize(width, height, ratio) {
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.ratio = ratio;
  }

  draw(app) {
    const { context, ratio } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.lineCap = "round";
    if (app.layers.violations) {
      this.drawViolations(app, 1, app.colors.tooLong, []);
      this.drawViolations(app, -1, app.colors.tooShort, [5, 4]);
    }
    if (app.pair >= 0) this.drawPair(app);
    if (app.pinned >= 0) this.ring(app, app.pinned, 5, 3, app.colors.accent);
    if (app.inspected >= 0) this.ring(app, app.inspected, 3, 2, app.colors.ink);
  }

  place(app, point) {
    return [app.view.screenX(app.scene.x[point]), app.view.screenY(app.scene.y[point])];
  }

  drawViolations(app, sign, color, dash) {
    const { context } = this;
    const { pairs, excess } = app.data.violations;
    const n = app.drawnViolations();
    context.beginPath();
    for (let k = 0; k < n; k++) {
      if (excess[k] * sign < 0) continue;
      context.moveTo(...this.place(app, pairs[2 * k]));
      context.lineTo(...this.place(app, pairs[2 * k + 1]));
    }
    context.setLineDash(dash);
    context.lineWidth = 1.8;
    context.strokeStyle = color;
    context.stroke();
    context.setLineDash([]);
  }

  // The pair that was asked for: a thick line with its violation beside it.
  drawPair(app) {
    const { context } = this;
    const { pairs, excess } = app.data.violations;
    const [a, b] = [pairs[2 * app.pair], pairs[2 * app.pair + 1]];
    const [from, to] = [this.place(app, a), this.place(app, b)];
    const color = excess[app.pair] > 0 ? app.colors.tooLong : app.colors.tooShort;
    for (const [width, style] of [
      [8, app.colors.ground],
      [4.5, color],
    ]) {
      context.lineWidth = width;
      context.strokeStyle = style;
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
    }
    for (const point of [a, b]) this.ring(app, point, 4, 2.5, color);
    const text = excessText(app, app.pair);
    context.font = "600 13px system-ui, sans-serif";
    context.textBaseline = "middle";
    const wide = context.measureText(text).width;
    const x = Math.min(app.view.width - wide - 8, Math.max(8, (from[0] + to[0]) / 2 + 10));
    const y = Math.min(app.view.height - 14, Math.max(14, (from[1] + to[1]) / 2 - 16));
    context.globalAlpha = 0.88;
    context.fillStyle = app.colors.ground;
    context.fillRect(x - 5, y - 11, wide + 10, 22);
    context.globalAlpha = 1;
    context.fillStyle = color;
    context.fillText(text, x, y);
  }

  ring(app, point, margin, width, color) {
    const { context } = this;
    const [x, y] = this.place(app, point);
    for (const [thick, style] of [
      [width + 2.5, app.colors.ground],
      [width, color],
    ]) {
      context.beginPath();
      context.arc(x, y, app.radiusOf(point) + margin, 0, 2 * Math.PI);
      context.lineWidth = thick;
      context.strokeStyle = style;
      context.stroke();
    }
  }
}
