// All rows of the map as a picture: how many lie in each pixel, with wider pixels for wider views.

const COARSEST = 64; // Pixels a side of the coarsest level.
const WIDE = 1.5; // Pixels of the screen that a pixel may take before a finer level is drawn.
const SQUARE = 6; // From so many on it is shown as the square that it is.
const SEVERAL = 8; // Rows that a usual pixel should hold: fewer look like grain,
const COARSE = 4; // unless pixels would take more of the screen than that.
const BAR = 3; // Pixels of the screen that a bar of a map of one dimension takes.
const FULL = 0.999; // Fraction of the pixels below the end of the scale.
const EMPTIEST = 0.05; // And above its start: more than the rim of a map has.
const LEAST_RANGE = 30; // Ratio of both ends of the scale, so that chance is no pattern.
const LISTED_COUNTS = 65536; // Counts whose colors are looked up.

async function readDensity(packed) {
  const { columns, rows, steps, tile } = packed;
  const numbers = await readBlock(packed.tiles);
  const codes = await readBlock(packed.codes);
  const cells = new Uint8Array(columns * rows);
  const across = Math.ceil(columns / tile);
  numbers.forEach((number, t) => {
    const left = (number % across) * tile;
    const bottom = Math.floor(number / across) * tile;
    const wide = Math.min(tile, columns - left);
    for (let r = 0; r < Math.min(tile, rows - bottom); r++) {
      const from = (t * tile + r) * tile;
      cells.set(codes.subarray(from, from + wide), (bottom + r) * columns + left);
    }
  });
  const levels = [{ columns, rows, cells, steps: Float64Array.from(steps), pixel: packed.pixel }];
  while (Math.max(levels.at(-1).columns, levels.at(-1).rows) > COARSEST) levels.push(halved(levels.at(-1)));
  for (const level of levels) level.range = densityRange(level);
  return { ...packed, levels, box: filledBox(levels[0], packed.corner) };
}

// The finest level holds codes, all others counts.
const rowsIn = (level, cell) => (level.steps ? level.steps[level.cells[cell]] : level.cells[cell]);

// The same rows in pixels twice as wide.
function halved(level) {
  const columns = Math.ceil(level.columns / 2);
  const rows = Math.ceil(level.rows / 2);
  const cells = new Float64Array(columns * rows);
  for (let r = 0, from = 0; r < level.rows; r++) {
    const start = (r >> 1) * columns;
    for (let c = 0; c < level.columns; c++, from++) cells[start + (c >> 1)] += rowsIn(level, from);
  }
  return { columns, rows, cells, steps: null, pixel: 2 * level.pixel };
}

// Both ends of the scale of a level, and the fullest pixel.
function densityRange(level) {
  const step = Math.max(1, Math.floor(level.cells.length / 200000));
  const sample = [];
  let most = 1;
  for (let cell = 0; cell < level.cells.length; cell++) {
    if (!level.cells[cell]) continue;
    const count = rowsIn(level, cell);
    if (count > most) most = count;
    if (cell % step === 0) sample.push(count);
  }
  sample.sort((a, b) => a - b);
  const at = (fraction) => sample[Math.round(fraction * (sample.length - 1))] || 1;
  // Wider on both sides where counts are alike, so that they are neither pale nor dark.
  const wider = Math.sqrt(Math.max(1, (LEAST_RANGE * at(EMPTIEST)) / at(FULL)));
  const [low, high] = [at(EMPTIEST) / wider, at(FULL) * wider].map((count) => Math.max(1, Math.round(count)));
  return { low, high, most, usual: at(0.5) };
}

// Where there are any rows, in units of the page.
function filledBox(level, [x, y = 0]) {
  const { columns, rows, cells, pixel } = level;
  let [left, right, bottom, top] = [columns, -1, rows, -1];
  for (let r = 0; r < rows; r++) {
    const row = cells.subarray(r * columns, (r + 1) * columns);
    const first = row.findIndex((code) => code > 0);
    if (first < 0) continue;
    left = Math.min(left, first);
    right = Math.max(right, row.findLastIndex((code) => code > 0));
    bottom = Math.min(bottom, r);
    top = r;
  }
  return { x0: x + left * pixel, x1: x + (right + 1) * pixel, y0: y + bottom * pixel, y1: y + (top + 1) * pixel };
}

class DensityPainter {
  constructor(density, canvas) {
    this.density = density;
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.pictures = new Map();
  }

  resize(width, height, ratio) {
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
  }

  recolor(ramp) {
    this.ramp = ramp;
    this.pictures.clear();
  }

  clear() {
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  // The level whose pixels are nearest to those of the screen, or to some of them.
  levelFor(view, wanted) {
    const { levels } = this.density;
    const finest = levels[0].pixel * view.k;
    const doublings = Math.floor(Math.log2((WIDE * wanted) / finest));
    let at = Math.max(0, Math.min(levels.length - 1, doublings));
    const isGrain = () => levels[at].range.usual < SEVERAL && 2 * levels[at].pixel * view.k <= COARSE;
    while (at < levels.length - 1 && isGrain()) at++;
    return levels[at];
  }

  // The part of a level that is seen: columns and rows, the ends included.
  seen(level, view, margin = 0) {
    const [x0, y0, x1, y1] = view.bounds(margin);
    const [x, y = 0] = this.density.corner;
    const within = (value, size) => Math.max(0, Math.min(size, value));
    const columns = [Math.floor((x0 - x) / level.pixel), Math.ceil((x1 - x) / level.pixel)];
    const rows = view.isStrip ? [0, 1] : [Math.floor((y0 - y) / level.pixel), Math.ceil((y1 - y) / level.pixel)];
    return [...columns.map((c) => within(c, level.columns)), ...rows.map((r) => within(r, level.rows))];
  }

  // How many rows are in view, to some pixels of the screen.
  rowsInView(view) {
    const level = this.levelFor(view, 4);
    const [c0, c1, r0, r1] = this.seen(level, view);
    let sum = 0;
    for (let r = r0; r < r1; r++) {
      for (let c = c0; c < c1; c++) sum += rowsIn(level, r * level.columns + c);
    }
    return sum;
  }

  paint(view) {
    this.clear();
    if (view.isStrip) return this.paintStrip(view);
    const { context, ratio, density } = this;
    const level = this.levelFor(view, 1 / ratio);
    const [c0, c1, r0, r1] = this.seen(level, view);
    if (c1 <= c0 || r1 <= r0) return level;
    const [x, y] = density.corner;
    const left = view.screenX(x + c0 * level.pixel) * ratio;
    const top = view.screenY(y + r1 * level.pixel) * ratio;
    const side = level.pixel * view.k * ratio;
    context.imageSmoothingEnabled = side < SQUARE;
    const wide = c1 - c0;
    const high = r1 - r0;
    // Pictures are upside down: their first row is the highest.
    context.drawImage(this.pictureOf(level), c0, level.rows - r1, wide, high, left, top, wide * side, high * side);
    return level;
  }

  // A level in colors, made when it is first seen.
  pictureOf(level) {
    if (this.pictures.has(level)) return this.pictures.get(level);
    const { columns, rows, cells } = level;
    const picture = document.createElement("canvas");
    picture.width = columns;
    picture.height = rows;
    const context = picture.getContext("2d");
    const [listed, colorOf] = this.colorsOf(level);
    const band = 256;
    for (let top = 0; top < rows; top += band) {
      const high = Math.min(band, rows - top);
      const image = context.createImageData(columns, high);
      const words = new Uint32Array(image.data.buffer);
      for (let r = 0; r < high; r++) {
        const from = (rows - 1 - top - r) * columns;
        for (let c = 0; c < columns; c++) {
          const cell = cells[from + c];
          words[r * columns + c] = cell < listed.length ? listed[cell] : colorOf(cell);
        }
      }
      context.putImageData(image, 0, top);
    }
    this.pictures.set(level, picture);
    return picture;
  }

  // Colors of what the cells of a level hold: a list for most of them, a function for counts beyond.
  colorsOf(level) {
    const { low, high, most } = level.range;
    const span = Math.log(high / low) || 1;
    const colorOf = (count) => this.ramp[Math.round(255 * Math.max(0, Math.min(1, Math.log(count / low) / span)))];
    const counts = level.steps || Float64Array.from({ length: Math.min(most + 1, LISTED_COUNTS) }, (_, i) => i);
    const listed = Uint32Array.from(counts, colorOf);
    listed[0] = 0; // Nothing is drawn where no rows are.
    return [listed, colorOf];
  }

  // A map of one dimension: how many rows lie where, above the line.
  paintStrip(view) {
    const { context, ratio, density } = this;
    const level = this.levelFor(view, BAR);
    const [c0, c1] = this.seen(level, view);
    let most = 1;
    for (let c = c0; c < c1; c++) most = Math.max(most, rowsIn(level, c));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const base = view.baseline - 14;
    const width = level.pixel * view.k;
    for (let c = c0; c < c1; c++) {
      const high = ((base - 20) * rowsIn(level, c)) / most;
      context.fillStyle = cssOf(this.ramp[170]);
      context.fillRect(view.screenX(density.corner[0] + c * level.pixel), base - high, Math.max(width - 0.5, 0.5 * width), high);
    }
    return level;
  }
}

const cssOf = (word) => `rgb(${word & 255}, ${(word >> 8) & 255}, ${(word >> 16) & 255})`;

// 256 colors of one hue, from near the ground to far from it; below points they stay nearer.
function densityRamp(colors, isBelow) {
  const [ground, hue, end] = [colors.ground, colors.heat, colors.heatEnd].map(rgbOf);
  const mixed = (a, b, t) => a.map((value, c) => Math.round(value + (b[c] - value) * t));
  return Uint32Array.from({ length: 256 }, (_, shade) => {
    const t = shade / 255;
    const strong = t < 0.6 ? mixed(ground, hue, 0.28 + (0.72 * t) / 0.6) : mixed(hue, end, (t - 0.6) / 0.4);
    const [r, g, b] = isBelow ? mixed(ground, hue, 0.12 + 0.55 * t) : strong;
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  });
}
