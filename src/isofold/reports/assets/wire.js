// Buttons and menus of the page, the theme, and the start.

function wire(app) {
  const onClick = (id, action) => byId(id).addEventListener("click", action);
  byId("color-by").addEventListener("change", (event) => app.colorBy(Number(event.target.value)));
  onClick("zoom-in", () => app.zoomBy(1.6));
  onClick("zoom-out", () => app.zoomBy(1 / 1.6));
  onClick("reset", () => app.reset());
  for (const mode of MODES) byId(`mode-${mode}`)?.addEventListener("click", () => setMode(app, mode));
  onClick("select-view", () => app.select(rowsInView(app)));
  onClick("select-class", () => app.select(highlightedRows(app)));
  onClick("selection-clear", () => app.select([]));
  onClick("point-clear", () => app.pin(-1));
  onClick("download", () => download(csvOf(app.data, app.selection.rows()), "isofold-selection.csv"));
  onClick("copy-rows", async () => {
    const done = await copyText(app.selection.rows().map((row) => numberOf(app.data, row)).join("\n"));
    const text = done ? "Row numbers are copied." : "The browser does not allow copying.";
    byId("copy-status").textContent = text;
    say(text);
  });
  wireAxes(app);
  onClick("theme", () => switchTheme(app));
  matchMedia("print").addEventListener("change", () => retheme(app));
}

function highlightedRows(app) {
  const rows = [];
  for (let row = 0; row < app.data.n; row++) if (app.isHighlighted(row)) rows.push(row);
  return rows;
}

function wireAxes(app) {
  if (app.data.dims < 3) return;
  ["axis-x", "axis-y"].forEach((id, which) => {
    const menu = byId(id);
    app.data.axes.forEach((_, axis) => {
      menu.append(make("option", { value: axis, text: `axis ${axis + 1}` }));
    });
    menu.value = String(app.shownAxes[which]);
    menu.addEventListener("change", () => {
      app.shownAxes[which] = Number(menu.value);
      app.inspect(-1);
      app.chooseAxes();
      app.repaint();
    });
  });
}

(async () => {
  try {
    const manifest = JSON.parse(byId("manifest").textContent);
    const data = await readData(manifest);
    if (manifest.density) data.density = await readDensity(manifest.density);
    const app = new App(data);
    app.start();
    byId("loading").remove();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    byId("loading").textContent = `The map cannot be shown. ${error.message}`;
    document.documentElement.dataset.ready = "failed";
  }
})();
