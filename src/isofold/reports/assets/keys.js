// The keyboard: move over the map, step from point to point, inspect, select.

const PAN_STEP = 60;
const DIRECTIONS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

const TURNS = { j: [-0.1, 0], l: [0.1, 0], i: [0, -0.1], k: [0, 0.1] };

class KeyControl {
  constructor(app, surface) {
    this.app = app;
    this.trail = [];
    this.seen = new Set();
    surface.addEventListener("keydown", (event) => {
      if (this.press(event)) event.preventDefault();
    });
  }

  // Whether the key had a meaning here.
  press(event) {
    if (event.ctrlKey || event.metaKey) return false;
    const direction = DIRECTIONS[event.key];
    if (direction && (event.shiftKey || event.altKey)) this.stepTowards(...direction);
    else if (direction) this.pan(...direction);
    else if (event.key === "+" || event.key === "=") this.app.zoomBy(1.5);
    else if (event.key === "-") this.app.zoomBy(1 / 1.5);
    else if (event.key === "0") this.app.reset();
    else if (TURNS[event.key]) this.app.rotate(...TURNS[event.key]);
    else if (event.key === "n") this.stepOn();
    else if (event.key === "p") this.stepBack();
    else if (event.key === "h") this.app.lookAt(this.app.view.x, this.app.view.isStrip ? 0 : this.app.view.y);
    else if (event.key === "Enter") this.enter();
    else if (event.key === " ") this.toggle();
    else if (event.key === "Escape") this.app.escape();
    else return false;
    return true;
  }

  pan(x, y) {
    this.app.view.pan(-x * PAN_STEP, y * PAN_STEP);
    this.app.repaint();
  }

  // The point that the keyboard is at: the inspected one, or the one nearest to the middle.
  get here() {
    const { app } = this;
    if (app.inspected >= 0) return app.inspected;
    return this.trail.length ? this.trail[this.trail.length - 1] : -1;
  }

  go(row) {
    if (row < 0) return;
    this.trail.push(row);
    this.seen.add(row);
    this.app.visit(row);
  }

  // To the nearest point that was not visited yet.
  stepOn() {
    const { app } = this;
    const here = this.here;
    const [x, y] = here < 0 ? [app.view.x, app.view.y] : [app.xs[here], app.ys[here]];
    const isNew = (row) => row !== here && !this.seen.has(row) && app.isHighlighted(row);
    let next = nearestRow(app.grid, x, app.view.isStrip ? 0 : y, Infinity, isNew);
    if (next < 0) {
      this.seen.clear();
      next = nearestRow(app.grid, x, y, Infinity, (row) => row !== here);
    }
    this.go(next);
  }

  stepBack() {
    this.trail.pop();
    const row = this.trail.pop();
    if (row !== undefined) this.go(row);
  }

  // To the nearest point within 45 degrees of a direction.
  stepTowards(dx, dy) {
    const { app } = this;
    const here = this.here;
    if (here < 0) {
      this.stepOn();
      return;
    }
    const [x, y] = [app.xs[here], app.ys[here]];
    const isAhead = (row) => {
      const along = (app.xs[row] - x) * dx + (app.ys[row] - y) * dy;
      const aside = Math.abs((app.xs[row] - x) * dy) + Math.abs((app.ys[row] - y) * dx);
      return along > 0 && aside <= along && app.isHighlighted(row);
    };
    this.go(nearestRow(app.grid, x, y, Infinity, isAhead));
  }

  enter() {
    if (this.here < 0) this.stepOn();
    this.app.pin(this.here);
  }

  toggle() {
    const { app } = this;
    const row = this.here;
    if (row >= 0) app.select([row], app.selection.mask[row] ? "remove" : "add");
  }
}
