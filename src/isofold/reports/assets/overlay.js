// What lies above the points: lines to true neighbors, the inspected point, the lasso.

const VERDICTS = {
  true: { text: "true to 10%", dash: [], color: "--true" },
  long: { text: "too long on the map", dash: [7, 4], color: "--long" },
  short: { text: "too short on the map", dash: [2, 3], color: "--short" },
};

// Whether a distance on the map is true, too long or too short.
function verdictOf(before, after) {
  if (before === after) return "true";
  const ratio = after / before;
  if (ratio > 1.1) return "long";
  return ratio < 0.9 ? "short" : "true";
}

class Overlay {
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
    if (app.pinned >= 0) this.drawNeighbors(app);
    if (app.back) this.drawPlace(app);
    if (app.inspected >= 0) this.ring(app, app.inspected, 8, 2, app.colors.ink);
    if (app.path.length > 1) this.drawPath(app);
  }

  place(app, row) {
    return [app.view.screenX(app.xs[row]), app.view.screenY(app.ys[row])];
  }

  ring(app, row, radius, width, color) {
    const { context } = this;
    const [x, y] = this.place(app, row);
    context.setLineDash([]);
    for (const [w, style] of [
      [width + 2.5, app.colors.ground],
      [width, color],
    ]) {
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.lineWidth = w;
      context.strokeStyle = style;
      context.stroke();
    }
  }

  drawNeighbors(app) {
    const { context } = this;
    const [x, y] = this.place(app, app.pinned);
    const pairs = app.neighborsOf(app.pinned);
    for (const isHalo of [true, false]) {
      for (const pair of pairs) {
        const verdict = VERDICTS[pair.verdict];
        const [nx, ny] = this.place(app, pair.row);
        context.beginPath();
        context.moveTo(x, y);
        if (app.view.isStrip) {
          // Lines along a line would hide each other: arcs below it.
          context.quadraticCurveTo((x + nx) / 2, y + 20 + Math.abs(nx - x) * 0.5, nx, ny);
        } else context.lineTo(nx, ny);
        context.setLineDash(isHalo ? [] : verdict.dash);
        context.lineWidth = isHalo ? 4.5 : 2;
        context.strokeStyle = isHalo ? app.colors.ground : app.colors[pair.verdict];
        context.stroke();
      }
    }
    for (const pair of pairs) this.ring(app, pair.row, 4.5, 1.5, app.colors[pair.verdict]);
    this.ring(app, app.pinned, 7, 3, app.colors.ink);
  }

  // A cross where a point would be, and rings around the rows that it would be made of.
  drawPlace(app) {
    const { context } = this;
    const { x, y, parts, isOutside } = app.back;
    for (const { row } of parts) this.ring(app, row, 4.5, 1, app.colors.ink);
    const [sx, sy] = [app.view.screenX(x), app.view.screenY(y)];
    context.setLineDash([]);
    for (const isHalo of [true, false]) {
      context.beginPath();
      for (const [dx, dy] of [
        [9, 0],
        [0, 9],
      ]) {
        context.moveTo(sx - dx, sy - dy);
        context.lineTo(sx + dx, sy + dy);
      }
      context.lineWidth = isHalo ? 5.5 : 2.5;
      context.strokeStyle = isHalo ? app.colors.ground : isOutside ? app.colors.long : app.colors.accent;
      context.stroke();
    }
  }

  drawPath(app) {
    const { context } = this;
    context.beginPath();
    app.path.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.globalAlpha = 0.12;
    context.fillStyle = app.colors.accent;
    context.fill("evenodd");
    context.globalAlpha = 1;
    context.setLineDash([5, 4]);
    context.lineWidth = 1.5;
    context.strokeStyle = app.colors.accent;
    context.stroke();
  }
}
