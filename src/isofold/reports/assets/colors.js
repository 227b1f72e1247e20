// Colors of the rows: each row gets a shade, a number into a table of 256 colors and marks.

const MOST_CLASSES = 30;
const MISSING_SHADE = 255;
const OTHER_SHADE = MOST_CLASSES;
const MARKS = ["circle", "square", "triangle", "diamond"];

const rgbOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// What the map can be colored by: columns of the user, then what is known of every map.
function colorOptions(data) {
  const own = data.columns.map((column) => ({ title: cut(column.name, 60), column }));
  const distortion = { name: "distortion", kind: "number", values: data.distortion, isKept: null };
  const rows = new Float64Array(data.n).map((_, row) => numberOf(data, row));
  const row = { name: "row number", kind: "number", values: rows, isKept: null };
  return [
    ...own,
    {
      title: "distortion",
      column: distortion,
      isError: true,
      note: "Mean error of the distances to a point's neighbors; 0.05 means 5%.",
    },
    { title: "row number", column: row },
  ];
}

function makeScheme(option) {
  const { column } = option;
  return column.kind === "class" ? classScheme(column) : numberScheme(column, option.isError);
}

function classScheme(column) {
  const { values, table, missing } = column;
  const most = column.most || MOST_CLASSES;
  const counts = new Int32Array(table.length);
  let gaps = 0;
  for (let i = 0; i < values.length; i++) {
    if (values[i] === missing) gaps++;
    else counts[values[i]]++;
  }
  let shown = Array.from(table.keys());
  if (table.length > most) {
    shown.sort((a, b) => counts[b] - counts[a] || a - b);
    shown = shown.slice(0, most - 1);
  }
  const shadeOf = new Uint8Array(table.length).fill(OTHER_SHADE);
  shown.forEach((code, shade) => (shadeOf[code] = shade));
  const shades = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    shades[i] = values[i] === missing ? MISSING_SHADE : shadeOf[values[i]];
  }
  const entries = shown.map((code, shade) => ({ shade, text: table[code], count: counts[code] }));
  const rest = values.length - gaps - entries.reduce((sum, entry) => sum + entry.count, 0);
  const left = table.length - shown.length;
  if (left > 0) entries.push({ shade: OTHER_SHADE, text: `${grouped(left)} others`, count: rest });
  if (gaps > 0) entries.push({ shade: MISSING_SHADE, text: "missing", count: gaps });
  return { kind: "class", name: column.name, shades, entries, codes: shown, colors: column.colors };
}

function numberScheme(column, startsAtZero) {
  const { values } = column;
  const range = rangeOf(values, startsAtZero);
  const shades = new Uint8Array(values.length);
  const factor = range.high > range.low ? 254.999 / (range.high - range.low) : 0;
  let gaps = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== value) {
      shades[i] = MISSING_SHADE;
      gaps++;
    } else shades[i] = Math.max(0, Math.min(254, (value - range.low) * factor));
  }
  const word = column.kind === "time" ? time : (value) => `${number(value, 3)} ${column.unit || ""}`.trim();
  return { kind: "number", name: column.name, shades, range, word, gaps };
}

// From the least to the largest value; from the 1st to the 99th percentile if few are far out. Of
// errors, which begin at zero and have long tails, up to the 95th: a few bad points hide no others.
function rangeOf(values, startsAtZero) {
  const step = Math.max(1, Math.floor(values.length / 20000));
  const sample = [];
  let least = Infinity;
  let largest = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== value) continue;
    if (value < least) least = value;
    if (value > largest) largest = value;
    if (i % step === 0) sample.push(value);
  }
  if (least === Infinity) return { low: 0, high: 0, cutsLow: false, cutsHigh: false };
  sample.sort((a, b) => a - b);
  const at = (fraction) => sample[Math.round(fraction * (sample.length - 1))];
  const usual = sample.length > 50 ? [at(0.01), at(startsAtZero ? 0.95 : 0.99)] : [least, largest];
  const isWide = usual[1] > usual[0] && largest - least > 1.5 * (usual[1] - usual[0]);
  let [low, high] = isWide ? usual : [least, largest];
  if (startsAtZero) low = 0;
  return { low, high, cutsLow: least < low, cutsHigh: largest > high };
}

// Colors of classes: those of the palette, or their own, such as elements have.
function classColors(scheme, theme, palette) {
  const own = scheme.colors?.[theme];
  return own ? scheme.codes.map((code) => own[code]) : palette[theme];
}

// Colors of all shades under a theme, as bytes, and the mark of each.
function tableOf(scheme, palette, isDark) {
  const rgb = new Uint8Array(768);
  const marks = new Uint8Array(256);
  const put = (shade, color) => rgb.set(rgbOf(color), 3 * shade);
  if (scheme.kind === "class") {
    const colors = classColors(scheme, isDark ? "dark" : "light", palette);
    for (let shade = 0; shade < MOST_CLASSES; shade++) {
      put(shade, colors[shade % colors.length]);
      marks[shade] = Math.min(MARKS.length - 1, Math.floor(shade / colors.length));
    }
  } else {
    // The ends of the scale that would drown in the ground are left out.
    const [from, to] = isDark ? [0.16, 1] : [0, 0.94];
    for (let shade = 0; shade < 255; shade++) {
      const fraction = from + ((to - from) * shade) / 254;
      put(shade, palette.sequential[Math.round(fraction * (palette.sequential.length - 1))]);
    }
  }
  const pale = isDark ? "#6b7280" : "#a3a9b3";
  if (scheme.kind === "class") put(OTHER_SHADE, pale);
  put(MISSING_SHADE, pale);
  return { rgb, marks };
}

const cssColor = (table, shade) =>
  `rgb(${table.rgb[3 * shade]}, ${table.rgb[3 * shade + 1]}, ${table.rgb[3 * shade + 2]})`;
