// Mouse, pen and fingers: hover, click, drag, pinch, wheel, lasso, rectangle.

const REACH = 14; // Pixels within which a point counts as meant.
const TURN = 0.008; // Radians a pixel.
const STILL = 4; // A pointer that moved less has clicked.

class PointerControl {
  constructor(app, surface) {
    this.app = app;
    this.surface = surface;
    this.fingers = new Map();
    const on = (name, handler, options) => surface.addEventListener(name, handler, options);
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", () => this.cancel());
    on("pointerleave", () => this.fingers.size || app.inspect(-1));
    on("wheel", (event) => this.wheel(event), { passive: false });
    on("dblclick", (event) => {
      app.view.zoom(event.altKey ? 0.5 : 2, ...this.place(event));
      app.repaint();
    });
  }

  place(event) {
    const box = this.surface.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    if (event.button !== 0) return;
    this.surface.setPointerCapture(event.pointerId);
    const place = this.place(event);
    this.fingers.set(event.pointerId, place);
    if (this.fingers.size > 1) {
      this.app.path = [];
      this.drawing = null;
      return;
    }
    this.from = this.last = place;
    this.isClick = true;
    const isMoving = (mode) => mode === "pan" || mode === "rotate";
    const { mode, shiftMode } = this.app;
    this.mode = event.shiftKey && isMoving(mode) ? shiftMode : mode;
    this.drawing = isMoving(this.mode) ? null : this.mode;
    if (this.drawing) this.app.path = [place];
  }

  move(event) {
    const place = this.place(event);
    const { app } = this;
    if (!this.fingers.has(event.pointerId)) {
      app.hover(...place);
      return;
    }
    const before = this.fingers.get(event.pointerId);
    this.fingers.set(event.pointerId, place);
    if (this.fingers.size === 2) {
      this.pinch(event.pointerId, before, place);
      return;
    }
    if (Math.hypot(place[0] - this.from[0], place[1] - this.from[1]) > STILL) this.isClick = false;
    if (this.isClick) return;
    if (this.drawing) this.draw(place);
    else this.drag(place[0] - this.last[0], place[1] - this.last[1]);
    this.last = place;
  }

  drag(dx, dy) {
    const { app } = this;
    app.inspect(-1);
    if (this.mode === "rotate") app.rotate(TURN * dx, TURN * dy);
    else {
      app.view.pan(dx, dy);
      app.repaint();
    }
  }

  draw(place) {
    const { app } = this;
    if (this.drawing === "rectangle") {
      const [x0, y0] = this.from;
      const [x1, y1] = place;
      app.path = [
        [x0, y0],
        [x1, y0],
        [x1, y1],
        [x0, y1],
      ];
    } else {
      const end = app.path[app.path.length - 1];
      if (Math.hypot(place[0] - end[0], place[1] - end[1]) >= 2) app.path.push(place);
    }
    app.inspect(-1);
    app.redrawOverlay();
  }

  pinch(finger, before, after) {
    const other = [...this.fingers].find(([id]) => id !== finger)[1];
    const distance = (a) => Math.max(1, Math.hypot(a[0] - other[0], a[1] - other[1]));
    const { view } = this.app;
    view.pan((after[0] - before[0]) / 2, (after[1] - before[1]) / 2);
    const middle = [(after[0] + other[0]) / 2, (after[1] + other[1]) / 2];
    view.zoom(distance(after) / distance(before), ...middle);
    this.isClick = false;
    this.app.repaint();
  }

  up(event) {
    if (!this.fingers.delete(event.pointerId)) return;
    const { app } = this;
    if (this.drawing && app.path.length > 2) {
      const how = event.ctrlKey || event.metaKey ? "add" : event.altKey ? "remove" : "replace";
      app.select(rowsInPath(app, app.path), how);
    } else if (this.isClick && this.fingers.size === 0) app.click(...this.place(event));
    this.cancel();
  }

  cancel() {
    this.fingers.clear();
    this.drawing = null;
    this.app.path = [];
    this.app.redrawOverlay();
  }

  wheel(event) {
    event.preventDefault();
    // Lines and pages of old mice, in pixels; a pinch on a touchpad comes with small steps.
    const unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 300 : 1;
    const speed = event.ctrlKey ? 0.01 : 0.0016;
    const { app } = this;
    app.view.zoom(Math.exp(-event.deltaY * unit * speed), ...this.place(event));
    app.inspect(-1);
    app.repaint();
  }
}
