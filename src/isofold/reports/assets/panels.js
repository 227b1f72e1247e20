// Words about one point, its neighbors, and the selection.

const LISTED = 50;

// What is known of a row: pairs of name and text.
function factsOf(app, row) {
  const { data } = app;
  const place = data.axes.map((_, axis) => number(coordinate(data, axis, row), 5)).join(", ");
  const facts = data.columns.map((column) => [cut(column.name, 40), cut(wordOf(column, row))]);
  const error = data.distortion[row];
  const distortion = Number.isNaN(error) ? "missing" : `${number(error, 3)} (${percent(error)})`;
  return [...facts, ["distortion", distortion], ["on the map", place]];
}

// The picture of a row, or null.
function thumbnailOf(data, row, side = 84) {
  if (data.images?.position && data.images.position[row] < 0) return null;
  return pictureOf(data, [{ row, weight: 1 }], `picture of row ${numberOf(data, row)}`, side);
}

// A weighted sum of pictures of rows, or null.
function pictureOf(data, parts, title, side) {
  if (!data.images) return null;
  const { height, width, channels, pixels, position } = data.images;
  const canvas = make("canvas", { class: "thumbnail", width, height, role: "img", "aria-label": title });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const size = height * width * channels;
  const starts = parts.map(({ row }) => (position ? position[row] : row) * size);
  for (let p = 0; p < height * width; p++) {
    for (let c = 0; c < 3; c++) {
      const at = p * channels + (channels === 3 ? c : 0);
      image.data[4 * p + c] = parts.reduce((sum, { weight }, i) => sum + weight * pixels[starts[i] + at], 0);
    }
    image.data[4 * p + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  const factor = side / Math.max(width, height);
  canvas.style.width = `${Math.round(width * factor)}px`;
  canvas.style.height = `${Math.round(height * factor)}px`;
  return canvas;
}

function showTooltip(app, x, y) {
  const tooltip = byId("tooltip");
  const row = app.inspected;
  if (row < 0) {
    tooltip.hidden = true;
    return;
  }
  const picture = thumbnailOf(app.data, row);
  const facts = factsOf(app, row);
  const most = 9;
  const body = make("div", {}, make("strong", { text: `Row ${grouped(numberOf(app.data, row))}` }));
  body.append(factList(facts.length > most ? [...facts.slice(0, most - 2), ...facts.slice(-2)] : facts));
  if (facts.length > most) {
    const text = `${facts.length - most} more fields: click`;
    body.append(make("p", { class: "quiet", text }));
  }
  tooltip.replaceChildren(...(picture ? [picture] : []), body);
  placeTooltip(tooltip, x, y);
}

function showPoint(app) {
  const panel = byId("point-body");
  const row = app.pinned;
  byId("point-clear").hidden = row < 0 && !app.back;
  if (app.back) {
    showPlace(app);
    return;
  }
  if (row < 0) {
    const text =
      "Click a point to see its true neighbors in the data, joined to it by lines." +
      (canLookBack(app) ? " Click an empty place to see what a point there would look like." : "");
    panel.replaceChildren(make("p", { class: "empty", text }));
    return;
  }
  const pairs = app.neighborsOf(row);
  const head = make("div", { class: "point-head" });
  const picture = thumbnailOf(app.data, row, 72);
  if (picture) head.append(picture);
  head.append(
    make("div", {}, make("strong", { text: `Row ${grouped(numberOf(app.data, row))}` }), factList(factsOf(app, row))),
  );
  if (app.asked !== row) {
    const instead =
      `Neighbors of row ${grouped(numberOf(app.data, app.asked))} are not kept in this page; this ` +
      `is the nearest row that has them.`;
    head.lastChild.append(make("p", { class: "quiet", text: instead }));
  }
  const kept = pairs.filter((pair) => pair.rank <= pairs.length).length;
  const text =
    `${kept} of its ${pairs.length} nearest in the data are among the ${pairs.length} nearest ` +
    `on the map.`;
  panel.replaceChildren(head, make("p", { text }), lineKey(app, pairs), neighborTable(app, pairs));
}

function lineKey(app, pairs) {
  const key = make("ul", { class: "line-key" });
  for (const [name, verdict] of Object.entries(VERDICTS)) {
    const count = pairs.filter((pair) => pair.verdict === name).length;
    key.append(
      make(
        "li",
        {},
        make("span", { class: `line line-${name}`, "aria-hidden": "true" }),
        `${count} ${verdict.text}`,
      ),
    );
  }
  return key;
}

function neighborTable(app, pairs) {
  const body = make("tbody");
  for (const pair of pairs) {
    const button = make("button", { type: "button", class: "link", text: grouped(numberOf(app.data, pair.row)) });
    button.addEventListener("click", () => app.pin(pair.row));
    button.setAttribute("aria-label", `go to row ${numberOf(app.data, pair.row)}`);
    const ratio = pair.before === pair.after ? 1 : pair.after / pair.before;
    const cells = [number(pair.before), number(pair.after), number(ratio, 3), grouped(pair.rank)];
    const line = make("tr", {}, make("th", { scope: "row" }, button));
    cells.forEach((text, i) => {
      line.append(make("td", { text, class: i === 2 ? `ratio-${pair.verdict}` : "" }));
    });
    body.append(line);
  }
  const head = make("tr");
  for (const text of ["row", "in the data", "on the map", "ratio", "rank on map"]) {
    head.append(make("th", { scope: "col", text }));
  }
  const table = make("table", { class: "neighbors" });
  table.append(make("caption", { class: "off-screen", text: "Nearest neighbors in the data" }));
  table.append(make("thead", {}, head), body);
  return table;
}

function meanDistortion(data, rows) {
  let sum = 0;
  let count = 0;
  for (const row of rows) {
    const value = data.distortion[row];
    if (Number.isNaN(value)) continue;
    sum += value;
    count++;
  }
  return count ? sum / count : NaN;
}

function showSelection(app) {
  const { selection, data } = app;
  const panel = byId("selection-body");
  const isEmpty = selection.count === 0;
  byId("selection-actions").hidden = isEmpty;
  if (isEmpty) {
    const text =
      "Nothing is selected. Draw a lasso (Shift-drag), or use the buttons Select view and " +
      "Select class.";
    panel.replaceChildren(make("p", { class: "empty", text }));
    return;
  }
  const rows = selection.rows();
  const mean = meanDistortion(data, rows);
  const fraction = percent(selection.count / data.n);
  const of = data.density ? `the sample's ${grouped(data.n)}` : grouped(data.n);
  const text = `${grouped(selection.count)} of ${of} rows (${fraction}) selected.`;
  const compared =
    `Mean distortion ${number(mean, 3)}; ${number(app.meanDistortion, 3)} over all ${data.density ? "of the sample" : "rows"}.`;
  const label = data.columns[0];
  const body = make("tbody");
  for (const row of rows.slice(0, LISTED)) {
    const button = make("button", { type: "button", class: "link", text: grouped(numberOf(data, row)) });
    button.addEventListener("click", () => app.pin(row));
    const line = make("tr", {}, make("th", { scope: "row" }, button));
    if (label) line.append(make("td", { class: "text" }, make("bdi", { text: cut(wordOf(label, row), 40) })));
    line.append(make("td", { text: number(data.distortion[row], 3) }));
    body.append(line);
  }
  const names = ["row", ...(label ? [cut(label.name, 24)] : []), "distortion"];
  const head = make("tr", {}, ...names.map((text) => make("th", { scope: "col", text })));
  const table = make("table", { class: "selected" }, make("thead", {}, head), body);
  panel.replaceChildren(make("p", { id: "selection-count", text }), make("p", { text: compared }), table);
  if (rows.length > LISTED) {
    const more = `The first ${LISTED} rows are listed; the download has all.`;
    panel.append(make("p", { class: "quiet", text: more }));
  }
}

function showStatus(app, seen) {
  const count = `${grouped(seen.inView)} of ${grouped(app.data.n)} points in view`;
  const how = seen.isDensity ? ", drawn as density (stronger is more); zoom in for points" : "";
  const isSample = !app.layers || app.layers.shown === "sample";
  byId("status").textContent = isSample ? count + how : rowsText(app, seen);
  showScale(app);
}

// How many rows are in view, as far as pixels tell.
function rowsText(app, seen) {
  const rows = Number(app.layers.painter.rowsInView(app.view).toPrecision(3));
  const points = `${grouped(seen.drawn)} of ${grouped(app.data.n)} points drawn`;
  const more = seen.drawn < seen.inView && !app.active ? "; zoom in for more" : "";
  const about = `About ${grouped(rows)} of ${grouped(app.data.density.n)} rows in view`;
  return app.layers.shown === "rows" ? about : `${about}, ${points}${more}`;
}
