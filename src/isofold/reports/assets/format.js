// Numbers, texts and small elements of the page. Data only ever become text, never markup.

const SHOWN_LENGTH = 120;

function cut(text, length = SHOWN_LENGTH) {
  // By code points, so that no emoji is cut in two.
  const start = Array.from(text.slice(0, 2 * length));
  return start.length <= length ? text : start.slice(0, length - 1).join("") + "…";
}

function number(value, digits = 4) {
  if (Number.isNaN(value)) return "missing";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return grouped(value);
  if (size >= 1e6 || size < 1e-4) {
    return value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("-", "−");
  }
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

function grouped(value) {
  const digits = String(Math.abs(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return value < 0 ? `−${digits}` : digits;
}

const percent = (fraction) => `${number(100 * fraction, 2)}%`;

function time(milliseconds) {
  if (Number.isNaN(milliseconds)) return "missing";
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return "out of range";
  return date.toISOString().replace("T00:00:00.000Z", "").replace("T", " ").replace(/\.000Z|Z$/, "");
}

// The number of a row in the data, of which some rows may not be on the map.
const numberOf = (data, row) => (data.numbers ? data.numbers[row] : row);

// What a column says of a row, whole.
function wordOf(column, row) {
  const value = column.values[row];
  if (column.kind === "class") {
    if (value !== column.missing) return column.table[value];
    return column.isKept && !column.isKept[row] ? "not kept in this page" : "missing";
  }
  if (column.isKept && !column.isKept[row]) return "not kept in this page";
  return column.kind === "time" ? time(value) : number(value, 6);
}

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name.startsWith("aria-") || name === "scope" || name === "role") {
      element.setAttribute(name, value);
    } else element[name] = value;
  }
  element.append(...children);
  return element;
}

const byId = (id) => document.getElementById(id);
