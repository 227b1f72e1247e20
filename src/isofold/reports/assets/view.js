// The part of the map that is seen: center in map units, pixels a unit, the same on both axes.

const PADDING = 0.06;
const MOST_ZOOM = 1e5;

class View {
  constructor(isStrip) {
    this.isStrip = isStrip;
    this.width = this.height = 1;
    this.x = this.y = 0;
    this.k = this.fitted = 1;
  }

  resize(width, height) {
    const ratio = this.k / this.fitted;
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    if (this.box) {
      this.fitted = this.fittingScale();
      this.k = this.fitted * ratio;
    }
  }

  fit(box) {
    this.box = box;
    this.x = (box.x0 + box.x1) / 2;
    this.y = (box.y0 + box.y1) / 2;
    this.k = this.fitted = this.fittingScale();
  }

  fittingScale() {
    const wide = this.box.x1 - this.box.x0;
    const high = this.isStrip ? 0 : this.box.y1 - this.box.y0;
    const room = 1 - 2 * PADDING;
    if (!(wide > 0) && !(high > 0)) return (room * Math.min(this.width, this.height)) / 2;
    return Math.min(
      wide > 0 ? (room * this.width) / wide : Infinity,
      high > 0 ? (room * this.height) / high : Infinity,
    );
  }

  // Where the strip of a one-dimensional map lies.
  get baseline() {
    return Math.round(this.height * 0.72);
  }

  screenX(x) {
    return (x - this.x) * this.k + this.width / 2;
  }

  screenY(y) {
    return this.isStrip ? this.baseline : this.height / 2 - (y - this.y) * this.k;
  }

  mapX(sx) {
    return (sx - this.width / 2) / this.k + this.x;
  }

  mapY(sy) {
    return this.isStrip ? 0 : (this.height / 2 - sy) / this.k + this.y;
  }

  // The rectangle that is seen, with a margin in pixels.
  bounds(margin = 0) {
    if (this.isStrip) return [this.mapX(-margin), -1, this.mapX(this.width + margin), 1];
    return [
      this.mapX(-margin),
      this.mapY(this.height + margin),
      this.mapX(this.width + margin),
      this.mapY(-margin),
    ];
  }

  pan(dx, dy) {
    this.x -= dx / this.k;
    if (!this.isStrip) this.y += dy / this.k;
    // Never so far that the map is lost.
    this.x = Math.min(this.box.x1, Math.max(this.box.x0, this.x));
    this.y = Math.min(this.box.y1, Math.max(this.box.y0, this.y));
  }

  zoom(factor, sx = this.width / 2, sy = this.height / 2) {
    const x = this.mapX(sx);
    const y = this.mapY(sy);
    this.k = Math.min(this.fitted * MOST_ZOOM, Math.max(this.fitted / 4, this.k * factor));
    this.x = x - (sx - this.width / 2) / this.k;
    if (!this.isStrip) this.y = y + (sy - this.height / 2) / this.k;
    this.pan(0, 0);
  }

  // Brings a place into view, if it is out of it.
  reveal(x, y) {
    const sx = this.screenX(x);
    const sy = this.screenY(y);
    const edge = 24;
    if (sx < edge || sy < edge || sx > this.width - edge || sy > this.height - edge) {
      this.x = x;
      if (!this.isStrip) this.y = y;
    }
  }
}

// A round length near a number of pixels, for the bar that tells the scale.
function scaleBar(unitsPerPixel, wanted = 110) {
  const length = wanted * unitsPerPixel;
  const power = 10 ** Math.floor(Math.log10(length));
  const step = [5, 2, 1].find((s) => s * power <= length) || 1;
  return { length: step * power, pixels: (step * power) / unitsPerPixel };
}
