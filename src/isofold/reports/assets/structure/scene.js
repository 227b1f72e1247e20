// The structure in space: vertices, sticks between them, and their rotation.

const LEAST_SHOWN = 0.75; // Of the sphere around a structure.
const SMOOTH = 4; // Pieces of a ribbon between two of its points.

async function readStructure(manifest) {
  const data = { ...manifest, columns: [], traces: [] };
  const readAll = async (blocks) => {
    const arrays = [];
    for (const block of blocks) arrays.push(await readBlock(block));
    return arrays;
  };
  data.axes = await readAll(manifest.axes);
  data.reference = manifest.reference ? await readAll(manifest.reference) : null;
  data.traces = await readAll(manifest.traces);
  data.names = manifest.names ? await readBlock(manifest.names) : null;
  for (const name of ["radius", "bonds", "links", "anchors"]) data[name] = await readBlock(manifest[name]);
  for (const packed of manifest.columns) {
    const column = await readColumn(packed, manifest.n);
    const { colors, most, isError, note, key } = packed;
    Object.assign(column, { colors, most, isError, note, key, unit: isError ? manifest.unit : "" });
    data.columns.push(column);
  }
  const bad = manifest.violations;
  data.violations = { limit: bad.limit };
  for (const name of ["pairs", "codes", "excess", "lower", "upper", "found"]) {
    data.violations[name] = await readBlock(bad[name]);
  }
  return data;
}

// Vertices are the points, those of the reference, middles of bonds and pieces of ribbons. A stick
// joins two of them in the color of its owner, a point, or in that of the reference.
class Scene {
  constructor(data) {
    this.n = data.n;
    this.isFlat = data.dims < 3;
    this.model = [[], [], []];
    this.sticks = { bonds: [], ribbon: [], reference: [], referenceRibbon: [], errors: [] };
    for (let i = 0; i < data.n; i++) this.add(data.axes, i);
    if (data.reference) for (let i = 0; i < data.n; i++) this.add(data.reference, i);
    this.addBonds(data.bonds);
    for (const trace of data.traces) this.addRibbon("ribbon", trace, data.axes);
    if (data.reference) this.addReference(data);
    this.model = this.model.map((axis) => Float32Array.from(axis));
    [this.x, this.y, this.z] = this.model.map((axis) => new Float32Array(axis.length));
    for (const name of Object.keys(this.sticks)) this.sticks[name] = Int32Array.from(this.sticks[name]);
    this.first = data.rotation;
    this.margin = data.radius.reduce((a, b) => Math.max(a, b), 0);
    this.reach = this.furthest() + this.margin;
    this.reset();
  }

  add(axes, i) {
    for (let k = 0; k < 3; k++) this.model[k].push(axes[k][i]);
    return this.model[0].length - 1;
  }

  addBonds(bonds) {
    for (let k = 0; k < bonds.length; k += 2) {
      const [a, b] = [bonds[k], bonds[k + 1]];
      const middle = this.model.map((axis) => [(axis[a] + axis[b]) / 2]);
      const m = this.add(middle, 0);
      this.sticks.bonds.push(a, m, a, m, b, b);
    }
  }

  addReference(data) {
    const { n } = this;
    const isKnown = (i) => data.reference[0][i] === data.reference[0][i];
    for (let k = 0; k < data.bonds.length; k += 2) {
      const [a, b] = [data.bonds[k], data.bonds[k + 1]];
      if (isKnown(a) && isKnown(b)) this.sticks.reference.push(n + a, n + b, -1);
    }
    for (const trace of data.traces) {
      this.addRibbon("referenceRibbon", trace.filter(isKnown), data.reference);
    }
    for (let i = 0; i < n; i++) if (isKnown(i)) this.sticks.errors.push(i, n + i, -1);
  }

  // A smooth curve through the points of a trace (Catmull and Rom).
  addRibbon(kind, trace, axes) {
    const last = trace.length - 1;
    let before = -1;
    for (let s = 0; s < last; s++) {
      const corner = (k) => trace[Math.max(0, Math.min(last, s + k))];
      const [a, b, c, d] = [corner(-1), corner(0), corner(1), corner(2)];
      for (let step = s === 0 ? 0 : 1; step <= SMOOTH; step++) {
        const t = step / SMOOTH;
        const at = axes.map((axis) => {
          const [p, q, r, u] = [axis[a], axis[b], axis[c], axis[d]];
          return [q + 0.5 * t * (r - p + t * (2 * p - 5 * q + 4 * r - u + t * (3 * (q - r) + u - p)))];
        });
        const vertex = this.add(at, 0);
        if (before >= 0) this.sticks[kind].push(before, vertex, kind === "ribbon" ? (t > 0.5 ? c : b) : -1);
        before = vertex;
      }
    }
  }

  // The largest distance from the middle: no rotation brings a point further out.
  furthest() {
    const [x, y, z] = this.model;
    let most = 0;
    for (let i = 0; i < x.length; i++) {
      const squared = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
      if (squared > most) most = squared;
    }
    return Math.sqrt(most) || 1;
  }

  // What is shown at first: all of it as it is turned now, and most of it however it is turned.
  box() {
    const least = this.isFlat ? 0 : LEAST_SHOWN * this.reach;
    const [x, y] = [this.x, this.y].map((axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (const value of axis) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
      return this.isFlat ? [low, high] : [Math.min(low - this.margin, -least), Math.max(high + this.margin, least)];
    });
    return { x0: x[0], x1: x[1], y0: y[0], y1: y[1] };
  }

  reset() {
    this.turn = Float64Array.from(this.first);
    this.project();
  }

  // Rotates about the axes of the screen; x is right, y is up and z towards the reader.
  rotate(right, down) {
    const [cr, sr, cd, sd] = [Math.cos(right), Math.sin(right), Math.cos(down), Math.sin(down)];
    const m = this.turn;
    for (let k = 0; k < 3; k++) {
      const [x, y, z] = [m[k], m[3 + k], m[6 + k]];
      const depth = z * cr - x * sr;
      m[k] = x * cr + z * sr;
      m[3 + k] = y * cd - depth * sd;
      m[6 + k] = y * sd + depth * cd;
    }
    this.project();
  }

  project() {
    const [x, y, z] = this.model;
    const m = this.turn;
    for (let i = 0; i < x.length; i++) {
      this.x[i] = m[0] * x[i] + m[1] * y[i] + m[2] * z[i];
      this.y[i] = m[3] * x[i] + m[4] * y[i] + m[5] * z[i];
      this.z[i] = m[6] * x[i] + m[7] * y[i] + m[8] * z[i];
    }
  }
}
