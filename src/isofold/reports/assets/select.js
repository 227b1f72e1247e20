// Selections: by lasso, rectangle, view or class; and their export.

// Whether a place is inside a polygon, counted by crossings.
function isInside(path, x, y) {
  let inside = false;
  for (let i = 0, j = path.length - 1; i < path.length; j = i++) {
    const [xi, yi] = path[i];
    const [xj, yj] = path[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

class Selection {
  constructor(n) {
    this.mask = new Uint8Array(n);
    this.count = 0;
  }

  clear() {
    this.mask.fill(0);
    this.count = 0;
  }

  // how: "replace", "add" or "remove".
  change(rows, how = "replace") {
    if (how === "replace") this.mask.fill(0);
    const value = how === "remove" ? 0 : 1;
    for (const row of rows) this.mask[row] = value;
    this.count = this.mask.reduce((sum, bit) => sum + bit, 0);
  }

  rows(most = Infinity) {
    const rows = [];
    for (let i = 0; i < this.mask.length && rows.length < most; i++) {
      if (this.mask[i]) rows.push(i);
    }
    return rows;
  }
}

// Rows inside a polygon of the screen, of those that are not faded.
function rowsInPath(app, path) {
  const { view, grid } = app;
  const across = path.map(([x]) => x);
  const down = path.map(([, y]) => y);
  const box = [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
  const rows = [];
  const [y0, y1] = view.isStrip ? [-1, 1] : [view.mapY(box[3]), view.mapY(box[1])];
  eachRange(grid, view.mapX(box[0]), y0, view.mapX(box[2]), y1, (from, to) => {
    for (let k = from; k < to; k++) {
      const x = view.screenX(grid.sx[k]);
      const y = view.screenY(grid.sy[k]);
      if (x < box[0] || x > box[2] || y < box[1] || y > box[3]) continue;
      if (app.isHighlighted(grid.order[k]) && isInside(path, x, y)) rows.push(grid.order[k]);
    }
  });
  return rows;
}

function rowsInView(app) {
  const { width, height } = app.view;
  const corners = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ];
  return rowsInPath(app, corners);
}

// A cell of a table. Text that a spreadsheet would run as a formula gets a quote mark in front;
// a class "-1" is none.
function csvCell(value) {
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  const isFormula = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value));
  const text = isFormula ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvOf(data, rows) {
  const names = data.axes.map((_, axis) => `map_${axis + 1}`);
  const columns = data.columns.map((column) => column.name);
  const lines = [["row", ...names, ...columns, "distortion"].map(csvCell).join(",")];
  for (const row of rows) {
    const cells = [numberOf(data, row)];
    for (let axis = 0; axis < data.axes.length; axis++) cells.push(coordinate(data, axis, row));
    for (const column of data.columns) {
      const value = column.values[row];
      if (column.kind === "class") cells.push(value === column.missing ? "" : column.table[value]);
      else if (column.kind === "time") cells.push(Number.isNaN(value) ? "" : time(value));
      else cells.push(value);
    }
    cells.push(Number(data.distortion[row].toPrecision(4)));
    lines.push(cells.map(csvCell).join(","));
  }
  return lines.join("\r\n") + "\r\n";
}

// With as many digits as single precision resolves of the extent of the map.
function coordinate(data, axis, row) {
  const value = data.offset[axis] + data.scale * data.axes[axis][row];
  const unit = data.scale * 1e-7;
  const digits = Math.max(1, Math.min(15, Math.ceil(Math.log10(Math.abs(value) / unit || 1))));
  return Number(value.toPrecision(digits));
}

function download(text, name) {
  const link = make("a", {
    href: URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" })),
    download: name,
  });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Older browsers, and frames that may not use the clipboard.
    const area = make("textarea", { value: text, class: "off-screen" });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
