// The keyboard: rotate, move, step from point to point and through the violations.

const STRUCTURE_STEP = { pixels: 60, radians: 0.12 };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

class StructureKeys {
  constructor(app, surface) {
    this.app = app;
    surface.addEventListener("keydown", (event) => {
      if (this.press(event)) event.preventDefault();
    });
  }

  // Whether the key had a meaning here.
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const { app } = this;
    const { key } = event;
    if (ARROWS[key]) this.arrow(...ARROWS[key], event.shiftKey);
    else if (key === "+" || key === "=") app.zoomBy(1.5);
    else if (key === "-") app.zoomBy(1 / 1.5);
    else if (key === "0") app.reset();
    else if (key === "n") app.step(1);
    else if (key === "p") app.step(-1);
    else if (key === "Enter") app.pin(app.inspected);
    else if (key === "w") app.stepPair(1);
    else if (key === "W") app.stepPair(-1);
    else if (key === "r") app.toggleLayer("reference");
    else if (key === "v") app.toggleLayer("violations");
    else if (key === "f") app.toggleMoves();
    else if (key === "Escape") app.escape();
    else return false;
    return true;
  }

  arrow(x, y, isMoving) {
    const { pixels, radians } = STRUCTURE_STEP;
    if (isMoving || this.app.scene.isFlat) {
      this.app.view.pan(-x * pixels, -y * pixels);
      this.app.repaint();
    } else this.app.rotate(x * radians, y * radians);
  }
}
