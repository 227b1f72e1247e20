// What a point at an empty place of the map would look like: its neighbors there, by local weights.
// The weights are those of isofold.extension.way_back, except that no suspect is acquitted.

const TEAR = 3; // Times as far as usual from the nearest one: from another part of the data.
const FADE = 0.999;
const MOST_TILT = 3; // Standard deviations of its neighbors up to which a place is extrapolated.
const ROUNDING = 4e-6; // Widths that single precision cannot tell from none; the map is 2 wide.
const AROUND = 10; // Neighbors that tell whether there are data.

const canLookBack = (app) => Boolean(app.data.back) && app.turn.every((angle) => angle === 0);

// Rows and their weights at a place, and whether the map has no data there.
function lookBack(app, x, y) {
  const { data, grid } = app;
  const { position } = data.images || {};
  const isKept = position ? (row) => position[row] >= 0 : null;
  const near = nearestRows(grid, x, y, data.back.k + 1, isKept);
  const rim = near.length > data.back.k ? near.pop().distance : Infinity;
  const used = withoutTorn(data, near);
  return { x, y, parts: weighted(app, x, y, used, rim), isOutside: isRemote(app, x, y) };
}

function withoutTorn(data, near) {
  const gaps = near.map((one) => gapBetween(data, one.row, near[0].row));
  const others = gaps.slice(1).sort((a, b) => a - b);
  const usual = others.length ? others[Math.floor((others.length - 1) / 4)] : 0;
  return near.filter((_, i) => !(usual > 0) || gaps[i] <= TEAR * usual);
}

// How different two rows are: by their pictures, or by the columns of numbers.
function gapBetween(data, row, other) {
  let sum = 0;
  if (data.images) {
    const { height, width, channels, pixels, position } = data.images;
    const size = height * width * channels;
    const [a, b] = [row, other].map((r) => (position ? position[r] : r) * size);
    for (let p = 0; p < size; p++) sum += (pixels[a + p] - pixels[b + p]) ** 2;
    return Math.sqrt(sum);
  }
  for (const column of data.columns) {
    if (column.kind === "class") continue;
    column.width ??= widthOf(column.values);
    const step = (column.values[row] - column.values[other]) / column.width;
    if (Number.isFinite(step)) sum += step * step;
  }
  return Math.sqrt(sum);
}

function widthOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return high / 2 - low / 2;
}

function weighted(app, x, y, used, rim) {
  const nearest = used[0].distance;
  const fraction = ({ distance }) => (distance > 0 ? nearest / distance - (FADE * nearest) / rim : 0);
  let parts = used.map((one) => ({ row: one.row, weight: nearest > 0 ? fraction(one) : Number(one.distance === 0) }));
  const total = parts.reduce((sum, part) => sum + part.weight, 0);
  parts = parts.map(({ row, weight }) => ({ row, weight: weight / total }));
  const mean = (of) => parts.reduce((sum, { row, weight }) => sum + weight * of(row), 0);
  const [mx, my] = [mean((row) => app.xs[row]), mean((row) => app.ys[row])];
  const [dx, dy] = [(row) => app.xs[row] - mx, (row) => app.ys[row] - my];
  const axes = principalAxes(
    mean((row) => dx(row) ** 2),
    mean((row) => dx(row) * dy(row)),
    mean((row) => dy(row) ** 2),
  ).filter(({ width }) => width > ROUNDING);
  const tilts = axes.map(({ along, width }) => (along[0] * (x - mx) + along[1] * (y - my)) / width);
  const bound = Math.min(1, MOST_TILT / Math.max(Math.hypot(...tilts), 1e-30));
  const tilt = (row) =>
    axes.reduce((sum, { along, width }, i) => {
      return sum + (bound * tilts[i] * (along[0] * dx(row) + along[1] * dy(row))) / width;
    }, 1);
  return parts.map(({ row, weight }) => ({ row, weight: weight * tilt(row) }));
}

// Directions and standard deviations of a spread in the plane.
function principalAxes(xx, xy, yy) {
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const variance = (a, b) => Math.max(0, a * a * xx + 2 * a * b * xy + b * b * yy);
  return [
    { along: [cos, sin], width: Math.sqrt(variance(cos, sin)) },
    { along: [-sin, cos], width: Math.sqrt(variance(-sin, cos)) },
  ];
}

// Whether a place is farther from its neighbors than nearly all rows are, compared with these.
function isRemote(app, x, y) {
  const mean = (near) => near.reduce((sum, one) => sum + one.distance, 0) / near.length;
  const near = nearestRows(app.grid, x, y, AROUND);
  const spacings = near.map(({ row }) => {
    const others = nearestRows(app.grid, app.xs[row], app.ys[row], AROUND, (other) => other !== row);
    return { distance: others.length ? mean(others) : 0 };
  });
  return mean(near) > app.data.back.limit * mean(spacings);
}

// What the columns of a place are likely to be: pairs of name and text.
function guessesOf(app, back) {
  const facts = app.data.columns.map((column) => [cut(column.name, 40), cut(guessOf(column, back.parts))]);
  const place = app.data.dims === 1 ? [back.x] : [back.x, back.y];
  const at = place.map((value, i) => number(app.data.offset[app.shownAxes[i]] + app.data.scale * value, 5));
  return [...facts, ["on the map", at.join(", ")]];
}

function guessOf(column, parts) {
  const isClass = column.kind === "class";
  const isKnown = (row) => (isClass ? column.values[row] !== column.missing : Number.isFinite(column.values[row]));
  const known = parts.filter(({ row }) => isKnown(row));
  const total = known.reduce((sum, { weight }) => sum + weight, 0);
  if (total < 0.5) return "missing";
  if (!isClass) {
    const value = known.reduce((sum, { row, weight }) => sum + (weight / total) * column.values[row], 0);
    return column.kind === "time" ? time(Math.round(value)) : number(value, 4);
  }
  const votes = new Map();
  for (const { row, weight } of known) {
    if (weight > 0) votes.set(column.values[row], (votes.get(column.values[row]) || 0) + weight);
  }
  const [code, most] = [...votes].reduce((best, vote) => (vote[1] > best[1] ? vote : best));
  const all = [...votes.values()].reduce((sum, vote) => sum + vote, 0);
  return most < 0.995 * all ? `${column.table[code]} (${percent(most / all)})` : column.table[code];
}

function showPlace(app) {
  const { back } = app;
  const head = make("div", { class: "point-head" });
  const picture = pictureOf(app.data, back.parts, "picture of what a point here would look like", 72);
  if (picture) head.append(picture);
  head.append(make("div", {}, make("strong", { text: "A point here" }), factList(guessesOf(app, back))));
  const text = `Made of the ${back.parts.length} nearest rows on the map, weighted by how near they are.`;
  const parts = [head, make("p", { class: "quiet", text })];
  if (back.isOutside) parts.splice(1, 0, make("p", { class: "no-data", text: NO_DATA }));
  byId("point-body").replaceChildren(...parts);
}

const NO_DATA = "The map has no data here: this is a guess.";
