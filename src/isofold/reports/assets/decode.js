// Data blocks of the page: base64, perhaps compressed, bytes of equal weight side by side.

const ARRAYS = {
  f4: Float32Array,
  f8: Float64Array,
  i4: Int32Array,
  u1: Uint8Array,
  u2: Uint16Array,
};

function bytesOfBase64(text) {
  if (typeof Uint8Array.fromBase64 === "function") return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function unzip(bytes) {
  if (typeof DecompressionStream !== "function") {
    throw new Error(
      "This browser cannot unpack the data of the map (it lacks DecompressionStream). " +
        "Please open the page with a browser of 2023 or newer.",
    );
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function joinPlanes(planes, width) {
  if (width === 1) return planes;
  const n = planes.length / width;
  const bytes = new Uint8Array(planes.length);
  for (let b = 0; b < width; b++) {
    const start = b * n;
    for (let i = 0, to = b; i < n; i++, to += width) bytes[to] = planes[start + i];
  }
  return bytes;
}

async function readBlock(block) {
  const element = document.getElementById(`block-${block.block}`);
  let bytes = bytesOfBase64(element.textContent.trim());
  element.remove(); // The text is twice as large as the bytes, and of no more use.
  if (block.gzip) bytes = await unzip(bytes);
  if (block.type === "json") return JSON.parse(new TextDecoder().decode(bytes));
  const kind = ARRAYS[block.type];
  return new kind(joinPlanes(bytes, kind.BYTES_PER_ELEMENT).buffer);
}

// For every row its position among the rows that were kept, or -1.
function positionsOf(rows, n) {
  if (!rows) return null;
  const positions = new Int32Array(n).fill(-1);
  rows.forEach((row, position) => (positions[row] = position));
  return positions;
}

async function readColumn(packed, n) {
  const column = { name: packed.name, kind: packed.kind, values: await readBlock(packed.values) };
  column.isKept = null;
  if (packed.table) {
    column.table = await readBlock(packed.table);
    column.missing = { Uint8Array: 255, Uint16Array: 65535, Int32Array: -1 }[
      column.values.constructor.name
    ];
  }
  if (packed.rows) {
    // Spread over all rows, so that nobody else has to know.
    const rows = await readBlock(packed.rows);
    const all = new column.values.constructor(n).fill(packed.table ? column.missing : NaN);
    column.isKept = new Uint8Array(n);
    rows.forEach((row, i) => {
      all[row] = column.values[i];
      column.isKept[row] = 1;
    });
    column.values = all;
  }
  return column;
}

async function readData(manifest) {
  const { n } = manifest;
  const data = { ...manifest, axes: [], columns: [] };
  for (const axis of manifest.axes) data.axes.push(await readBlock(axis));
  data.distortion = await readBlock(manifest.distortion);
  data.numbers = manifest.numbers ? await readBlock(manifest.numbers) : null;
  for (const column of manifest.columns) data.columns.push(await readColumn(column, n));
  const near = manifest.near;
  data.near = {
    k: near.k,
    indices: await readBlock(near.indices),
    before: await readBlock(near.before),
    position: positionsOf(near.rows && (await readBlock(near.rows)), n),
  };
  if (manifest.images) {
    data.images = {
      ...manifest.images,
      pixels: await readBlock(manifest.images.pixels),
      position: positionsOf(manifest.images.rows && (await readBlock(manifest.images.rows)), n),
    };
  }
  return data;
}
