// The legend: classes that can be highlighted, or the bar of a color scale.

function drawLegend(app) {
  const legend = byId("legend");
  legend.replaceChildren();
  if (app.scheme.kind === "class") drawClasses(app, legend);
  else drawBar(app, legend);
  if (app.option.note) legend.append(make("p", { class: "quiet", text: app.option.note }));
}

function drawClasses(app, legend) {
  const list = make("ul", { class: "classes" });
  // Long names that begin alike could not be told apart if they were cut.
  list.classList.toggle("is-long", app.scheme.entries.some((entry) => entry.text.length > 12));
  for (const entry of app.scheme.entries) {
    const isOn = app.highlighted.has(entry.shade);
    const button = make(
      "button",
      { type: "button", class: "class-entry", "aria-pressed": String(isOn), title: cut(entry.text) },
      swatch(app, entry.shade),
      make("bdi", { class: "class-name", text: cut(entry.text, 60) || "(empty)" }),
      make("span", { class: "class-count", text: grouped(entry.count) }),
    );
    button.classList.toggle("is-faded", app.highlighted.size > 0 && !isOn);
    button.addEventListener("click", () => {
      app.toggleHighlight(entry.shade);
      // The list was made anew: the keyboard stays where it was.
      const again = app.scheme.entries.indexOf(entry);
      legend.querySelectorAll("button.class-entry")[again].focus();
    });
    list.append(make("li", {}, button));
  }
  legend.append(list);
}

function swatch(app, shade) {
  const size = 14;
  const ratio = Math.min(2, devicePixelRatio || 1);
  const canvas = make("canvas", { class: "swatch", width: size * ratio, height: size * ratio });
  canvas.setAttribute("aria-hidden", "true");
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.translate(size / 2, size / 2);
  traceMark(context, app.table.marks[shade], 4.6);
  context.fillStyle = cssColor(app.table, shade);
  context.fill();
  return canvas;
}

function drawBar(app, legend) {
  const { range, word, gaps, name } = app.scheme;
  const canvas = make("canvas", { class: "color-bar", width: 255, height: 1 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${cut(name, 60)} from ${word(range.low)} to ${word(range.high)}`);
  const context = canvas.getContext("2d");
  for (let shade = 0; shade < 255; shade++) {
    context.fillStyle = cssColor(app.table, shade);
    context.fillRect(shade, 0, 1, 1);
  }
  const ends = make(
    "div",
    { class: "bar-ends" },
    make("span", { text: (range.cutsLow ? "≤ " : "") + word(range.low) }),
    make("span", { text: word((range.low + range.high) / 2) }),
    make("span", { text: (range.cutsHigh ? "≥ " : "") + word(range.high) }),
  );
  legend.append(canvas, ends);
  if (range.low === range.high) ends.replaceChildren(make("span", { text: `all ${word(range.low)}` }));
  if (gaps > 0) {
    const missing = make("p", { class: "quiet" }, swatch(app, MISSING_SHADE));
    missing.append(` ${grouped(gaps)} missing`);
    legend.append(missing);
  }
}
