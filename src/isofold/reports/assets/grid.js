// Points sorted into the cells of a grid, so that what is in view or near a place is found fast.

function makeGrid(xs, ys) {
  const n = xs.length;
  const box = { x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity };
  for (let i = 0; i < n; i++) {
    if (xs[i] < box.x0) box.x0 = xs[i];
    if (xs[i] > box.x1) box.x1 = xs[i];
    if (ys[i] < box.y0) box.y0 = ys[i];
    if (ys[i] > box.y1) box.y1 = ys[i];
  }
  const extent = Math.max(box.x1 - box.x0, box.y1 - box.y0) || 1;
  const side = extent / Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(n / 3))));
  const columns = Math.floor((box.x1 - box.x0) / side) + 1;
  const rows = Math.floor((box.y1 - box.y0) / side) + 1;
  const cell = new Int32Array(n);
  const start = new Int32Array(columns * rows + 1);
  for (let i = 0; i < n; i++) {
    const c = Math.floor((xs[i] - box.x0) / side);
    const r = Math.floor((ys[i] - box.y0) / side);
    cell[i] = r * columns + c;
    start[cell[i] + 1]++;
  }
  for (let c = 0; c < columns * rows; c++) start[c + 1] += start[c];
  const next = start.slice();
  const order = new Int32Array(n);
  for (let i = 0; i < n; i++) order[next[cell[i]]++] = i;
  // Sorted copies are read in one go when everything is drawn.
  const sx = new Float32Array(n);
  const sy = new Float32Array(n);
  for (let k = 0; k < n; k++) {
    sx[k] = xs[order[k]];
    sy[k] = ys[order[k]];
  }
  return { box, extent, side, columns, rows, start, order, sx, sy };
}

// Calls visit(from, to) with ranges of sorted positions that cover a rectangle.
function eachRange(grid, x0, y0, x1, y1, visit) {
  const { box, side, columns, rows, start } = grid;
  if (x1 < box.x0 || x0 > box.x1 || y1 < box.y0 || y0 > box.y1) return;
  const c0 = Math.max(0, Math.floor((x0 - box.x0) / side));
  const c1 = Math.min(columns - 1, Math.floor((x1 - box.x0) / side));
  const r0 = Math.max(0, Math.floor((y0 - box.y0) / side));
  const r1 = Math.min(rows - 1, Math.floor((y1 - box.y0) / side));
  for (let r = r0; r <= r1; r++) {
    const from = start[r * columns + c0];
    const to = start[r * columns + c1 + 1];
    if (to > from) visit(from, to);
  }
}

// The number of points in a rectangle.
function countWithin(grid, x0, y0, x1, y1) {
  const { sx, sy } = grid;
  let count = 0;
  eachRange(grid, x0, y0, x1, y1, (from, to) => {
    for (let k = from; k < to; k++) {
      if (sx[k] >= x0 && sx[k] <= x1 && sy[k] >= y0 && sy[k] <= y1) count++;
    }
  });
  return count;
}

// The k rows nearest to a place among those that are allowed, with their distances, ascending.
function nearestRows(grid, x, y, k, isAllowed = null) {
  const { order, sx, sy } = grid;
  const wide = 8 * grid.extent + Math.hypot(x, y);
  for (let radius = grid.side; ; radius *= 2) {
    const found = [];
    eachRange(grid, x - radius, y - radius, x + radius, y + radius, (from, to) => {
      for (let i = from; i < to; i++) {
        const distance = Math.hypot(sx[i] - x, sy[i] - y);
        const isWithin = distance <= radius || radius >= wide;
        if (isWithin && (!isAllowed || isAllowed(order[i]))) found.push({ row: order[i], distance });
      }
    });
    if (found.length >= k || radius >= wide) {
      return found.sort((a, b) => a.distance - b.distance || a.row - b.row).slice(0, k);
    }
  }
}

// The row nearest to a place among those that are allowed, or -1 if none is within reach.
function nearestRow(grid, x, y, reach, isAllowed = null) {
  const { order, sx, sy } = grid;
  let best = -1;
  let least = Infinity;
  const look = (radius) =>
    eachRange(grid, x - radius, y - radius, x + radius, y + radius, (from, to) => {
      for (let k = from; k < to; k++) {
        const dx = sx[k] - x;
        const dy = sy[k] - y;
        const d = dx * dx + dy * dy;
        if (d < least && (!isAllowed || isAllowed(order[k]))) {
          least = d;
          best = order[k];
        }
      }
    });
  const wide = reach === Infinity ? 8 * grid.extent + Math.hypot(x, y) : reach;
  let radius = Math.min(wide, grid.side);
  for (;;) {
    look(radius);
    // What was found may be in a corner; what is nearer lies within its own distance.
    if (least <= radius * radius || radius >= wide) break;
    radius = Math.min(wide, 2 * radius);
  }
  return least <= wide * wide ? best : -1;
}
