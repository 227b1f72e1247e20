// What the pages of maps and of structures share: facts, tooltip, scale, modes, theme.

const MODES = ["pan", "lasso", "rectangle", "rotate"];

function setMode(app, mode) {
  app.mode = mode;
  app.surface.dataset.tool = mode;
  for (const other of MODES) {
    byId(`mode-${other}`)?.setAttribute("aria-pressed", String(other === mode));
  }
}

function factList(facts) {
  const list = make("dl", { class: "facts" });
  for (const [name, text] of facts) {
    list.append(make("dt", {}, make("bdi", { text: name })), make("dd", {}, make("bdi", { text })));
  }
  return list;
}

// Beside a point, on the side where there is room.
function placeTooltip(tooltip, x, y) {
  tooltip.hidden = false;
  const room = tooltip.parentElement.getBoundingClientRect();
  const { offsetWidth: w, offsetHeight: h } = tooltip;
  const left = x + 16 + w > room.width ? x - 16 - w : x + 16;
  const top = y + 16 + h > room.height ? y - 16 - h : y + 16;
  tooltip.style.left = `${Math.max(4, Math.min(left, room.width - w - 4))}px`;
  tooltip.style.top = `${Math.max(4, Math.min(top, room.height - h - 4))}px`;
}

// The bar that tells the scale.
function showScale(app) {
  const bar = scaleBar(app.data.scale / app.view.k);
  byId("scale-line").style.width = `${bar.pixels}px`;
  byId("scale-text").textContent = `${number(bar.length, 3)} ${app.data.unit || ""}`.trim();
}

function traceMark(context, mark, r) {
  context.beginPath();
  if (mark === 0) context.arc(0, 0, r, 0, 2 * Math.PI);
  else if (mark === 1) context.rect(-0.89 * r, -0.89 * r, 1.78 * r, 1.78 * r);
  else if (mark === 2) {
    context.moveTo(0, -1.5 * r);
    context.lineTo(1.3 * r, 0.75 * r);
    context.lineTo(-1.3 * r, 0.75 * r);
  } else {
    context.moveTo(0, -1.3 * r);
    context.lineTo(1.3 * r, 0);
    context.lineTo(0, 1.3 * r);
    context.lineTo(-1.3 * r, 0);
  }
  context.closePath();
}

// What is said to those who listen.
const say = (text) => (byId("live").textContent = text);

function switchTheme(app) {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("isofold-theme", theme);
  } catch {
    // Not remembered, then.
  }
  retheme(app);
}

function retheme(app) {
  app.readTheme();
  app.recolor();
  app.paintNow();
}
