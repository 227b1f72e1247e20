// The points: as density while many are in view, one by one when few are.

const MOST_POINTS = 30000;
const SMALL = 3.5; // Radius of points on a density, which is to be seen between them.
const PHASES = 4; // Positions of a mark within a pixel.

// Shapes of one area, around the origin.
class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.stamps = new Map();
    this.scratch = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  }

  resize(width, height, ratio) {
    this.ratio = ratio;
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (this.image && w === this.canvas.width && h === this.canvas.height) return;
    this.canvas.width = w;
    this.canvas.height = h;
    this.image = this.context.createImageData(w, h);
    this.words = new Uint32Array(this.image.data.buffer);
  }

  // scene: view, grid, shades and active (both in the order of the grid), table, kind, ground;
  // whether the ground is clear, ranks of the rows and how many of them are drawn at most.
  paint(scene) {
    const { view, grid } = scene;
    let inView = 0;
    eachRange(grid, ...view.bounds(), (from, to) => (inView += to - from));
    const isDensity = inView > MOST_POINTS && scene.most === Infinity;
    // Cells reach beyond the view: where they hold few points, those are counted one by one.
    if (!isDensity) inView = countWithin(grid, ...view.bounds());
    const [r, g, b] = scene.ground;
    this.words.fill(scene.isClear ? 0 : ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
    const drawn = scene.isClear ? countDrawn(scene) : inView;
    if (!view.isStrip && drawn) {
      if (isDensity) this.paintDensity(scene, inView);
      else this.paintPoints(scene, drawn);
    }
    this.context.putImageData(this.image, 0, 0);
    if (view.isStrip) this.paintStrip(scene, inView, isDensity);
    return { inView, drawn, isDensity };
  }

  // Sums in bins: colors (or shades of numbers) and counts of active points, counts of others.
  accumulate(scene, across, down, size) {
    const { view, grid, shades, active, table, kind } = scene;
    const { sx, sy } = grid;
    const { rgb } = table;
    const sums = this.buffer("sums", Float32Array, 4 * across * down);
    const others = this.buffer("others", Uint32Array, across * down);
    const scale = (view.k * this.ratio) / size;
    const [x0, , , y1] = view.bounds();
    const isClass = kind === "class";
    eachRange(grid, ...view.bounds(), (from, to) => {
      for (let k = from; k < to; k++) {
        const column = (sx[k] - x0) * scale;
        const row = view.isStrip ? 0 : (y1 - sy[k]) * scale;
        if (!(column >= 0 && column < across && row >= 0 && row < down)) continue;
        const bin = (row | 0) * across + (column | 0);
        const shade = shades[k];
        if (active && !active[k]) {
          others[bin]++;
        } else if (isClass) {
          sums[4 * bin] += rgb[3 * shade];
          sums[4 * bin + 1] += rgb[3 * shade + 1];
          sums[4 * bin + 2] += rgb[3 * shade + 2];
          sums[4 * bin + 3]++;
        } else if (shade === MISSING_SHADE) {
          others[bin]++;
        } else {
          sums[4 * bin] += shade;
          sums[4 * bin + 3]++;
        }
      }
    });
    return { sums, others };
  }

  buffer(name, kind, length) {
    if (this[name] && this[name].length === length) this[name].fill(0);
    else this[name] = new kind(length);
    return this[name];
  }

  // The mean color of a bin: of classes by mixing, of numbers by their mean.
  binColor(scene, sums, bin, into) {
    const count = sums[4 * bin + 3];
    if (scene.kind === "class") {
      for (let c = 0; c < 3; c++) into[c] = sums[4 * bin + c] / count;
    } else {
      const shade = Math.round(sums[4 * bin] / count);
      for (let c = 0; c < 3; c++) into[c] = scene.table.rgb[3 * shade + c];
    }
  }

  paintDensity(scene, inView) {
    const { width, height } = this.canvas;
    // Bins of two pixels, unless so many points are in view that finer ones are filled as well.
    const isFull = inView > 8 * width * height;
    const size = Math.max(1, Math.round(this.ratio * (isFull ? 1 : 2)));
    const across = Math.ceil(width / size);
    const down = Math.ceil(height / size);
    const { sums, others } = this.accumulate(scene, across, down, size);
    let most = 1;
    for (let bin = 0; bin < others.length; bin++) {
      most = Math.max(most, sums[4 * bin + 3], others[bin]);
    }
    const depth = new Float32Array(most + 1);
    // Colors of numbers must be read, so that they are paled less.
    const least = scene.kind === "class" ? 0.42 : 0.66;
    for (let c = 1; c <= most; c++) {
      depth[c] = least + ((1 - least) * Math.log(c)) / Math.log(most + 1);
    }
    const color = [0, 0, 0];
    const pale = scene.table.rgb.subarray(3 * MISSING_SHADE);
    const [r0, g0, b0] = scene.ground;
    for (let bin = 0; bin < others.length; bin++) {
      const count = sums[4 * bin + 3];
      if (!count && !others[bin]) continue;
      let strength = depth[count];
      if (count) this.binColor(scene, sums, bin, color);
      else {
        [color[0], color[1], color[2]] = pale;
        strength = 0.5 * depth[others[bin]];
      }
      const r = r0 + (color[0] - r0) * strength;
      const g = g0 + (color[1] - g0) * strength;
      const b = b0 + (color[2] - b0) * strength;
      const word = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
      const top = Math.floor(bin / across) * size;
      const left = (bin % across) * size;
      const right = Math.min(width, left + size);
      for (let y = top; y < Math.min(height, top + size); y++) {
        this.words.fill(word, y * width + left, y * width + right);
      }
    }
  }

  paintPoints(scene, drawn) {
    const { view, grid, shades, active, table } = scene;
    const radius = Math.min(pointRadius(view, drawn), scene.isClear ? SMALL : Infinity) * this.ratio;
    const halo = drawn <= 5000 ? scene.ground : null;
    const pale = Array.from(table.rgb.subarray(3 * MISSING_SHADE, 3 * MISSING_SHADE + 3));
    const isLeftOut = leavesOut(scene);
    for (const wanted of active && !scene.isClear ? [0, 1] : [1]) {
      eachRange(grid, ...view.bounds(8), (from, to) => {
        for (let k = from; k < to; k++) {
          if ((active && active[k] !== wanted) || isLeftOut(k)) continue;
          const x = view.screenX(grid.sx[k]) * this.ratio;
          const y = view.screenY(grid.sy[k]) * this.ratio;
          const shade = shades[k];
          if (!wanted) {
            this.stamp(x, y, 0, 0.75 * radius, pale, 0.4);
            continue;
          }
          const color = table.rgb.subarray(3 * shade, 3 * shade + 3);
          if (halo) this.stamp(x, y, table.marks[shade], radius + 0.8 * this.ratio, halo, 0.7);
          this.stamp(x, y, table.marks[shade], radius, color, 0.88);
        }
      });
    }
  }

  // Blends a mark into the image.
  stamp(x, y, mark, radius, color, opacity) {
    const { size, masks } = this.stampOf(mark, radius);
    const left = Math.floor(x);
    const top = Math.floor(y);
    const phase =
      Math.floor((y - top) * PHASES) * PHASES + Math.floor((x - left) * PHASES);
    const mask = masks[phase];
    const half = size >> 1;
    const { width, height } = this.canvas;
    const pixels = this.image.data;
    for (let row = 0; row < size; row++) {
      const py = top - half + row;
      if (py < 0 || py >= height) continue;
      for (let column = 0; column < size; column++) {
        const alpha = mask[row * size + column] * opacity;
        const px = left - half + column;
        if (alpha === 0 || px < 0 || px >= width) continue;
        const at = 4 * (py * width + px);
        // Over what is below; on a solid ground the weight is the coverage.
        const solid = alpha + (pixels[at + 3] / 255) * (1 - alpha);
        const weight = alpha / solid;
        pixels[at] += (color[0] - pixels[at]) * weight;
        pixels[at + 1] += (color[1] - pixels[at + 1]) * weight;
        pixels[at + 2] += (color[2] - pixels[at + 2]) * weight;
        pixels[at + 3] = 255 * solid;
      }
    }
  }

  // Coverage of the pixels around a mark, for every position of it within its pixel.
  stampOf(mark, radius) {
    const key = `${mark} ${radius}`;
    if (this.stamps.has(key)) return this.stamps.get(key);
    const half = Math.ceil(1.6 * radius) + 1;
    const size = 2 * half + 1;
    const { scratch } = this;
    scratch.canvas.width = scratch.canvas.height = size;
    const masks = [];
    for (let phase = 0; phase < PHASES * PHASES; phase++) {
      scratch.setTransform(1, 0, 0, 1, 0, 0);
      scratch.clearRect(0, 0, size, size);
      scratch.translate(
        half + ((phase % PHASES) + 0.5) / PHASES,
        half + (Math.floor(phase / PHASES) + 0.5) / PHASES,
      );
      traceMark(scratch, mark, radius);
      scratch.fill();
      const { data } = scratch.getImageData(0, 0, size, size);
      masks.push(Float32Array.from({ length: size * size }, (_, i) => data[4 * i + 3] / 255));
    }
    this.stamps.set(key, { size, masks });
    return this.stamps.get(key);
  }

  // A map of one dimension: how many points lie where, above a line of ticks.
  paintStrip(scene, inView, isDensity) {
    const { view, grid, shades, active, table } = scene;
    const { context, ratio } = this;
    // Wider bars for fewer points, so that they show a shape and no comb.
    const bin = Math.max(3, Math.min(24, Math.round(view.width / (3 * Math.sqrt(inView)))));
    const across = Math.ceil(view.width / bin);
    const { sums, others } = this.accumulate(scene, across, 1, bin * ratio);
    let most = 1;
    for (let b = 0; b < across; b++) most = Math.max(most, sums[4 * b + 3] + others[b]);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const base = view.baseline - 14;
    const rise = (base - 20) / most;
    const color = [0, 0, 0];
    // Bars of all rows are drawn below.
    for (let b = 0; b < (scene.isClear ? 0 : across); b++) {
      const count = sums[4 * b + 3];
      context.fillStyle = cssColor(table, MISSING_SHADE);
      context.fillRect(b * bin, base, bin - 0.5, -(others[b] + count) * rise);
      if (!count) continue;
      this.binColor(scene, sums, b, color);
      context.fillStyle = `rgb(${color.map(Math.round).join(", ")})`;
      context.fillRect(b * bin, base, bin - 0.5, -count * rise);
    }
    if (!isDensity) {
      const isLeftOut = leavesOut(scene);
      eachRange(grid, ...view.bounds(4), (from, to) => {
        for (let k = from; k < to; k++) {
          if (isLeftOut(k)) continue;
          const isPale = active && !active[k];
          context.fillStyle = cssColor(table, isPale ? MISSING_SHADE : shades[k]);
          context.globalAlpha = isPale ? 0.3 : 0.8;
          context.fillRect(view.screenX(grid.sx[k]) - 0.5, view.baseline - 10, 1, 20);
        }
      });
      context.globalAlpha = 1;
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
  }
}

// Which points are not drawn, since others stand for them.
function leavesOut({ ranks, most, grid }) {
  return most < grid.order.length ? (k) => ranks[grid.order[k]] >= most : () => false;
}

// How many points are drawn above a density: those of low rank that are selected or highlighted.
function countDrawn(scene) {
  const { grid, active, view } = scene;
  const isLeftOut = leavesOut(scene);
  const [x0, y0, x1, y1] = view.bounds();
  let count = 0;
  eachRange(grid, x0, y0, x1, y1, (from, to) => {
    for (let k = from; k < to; k++) {
      const isInView = grid.sx[k] >= x0 && grid.sx[k] <= x1 && grid.sy[k] >= y0 && grid.sy[k] <= y1;
      if (isInView && !isLeftOut(k) && (!active || active[k])) count++;
    }
  });
  return count;
}

// Marks are the smaller, the more of them share the map.
function pointRadius(view, inView) {
  const room = Math.min(view.width, view.height) / Math.sqrt(Math.max(1, inView));
  return Math.max(1.8, Math.min(5, Math.round(10 * 0.23 * room) / 10));
}
