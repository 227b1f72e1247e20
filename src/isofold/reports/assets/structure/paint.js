// Balls, sticks and ribbons, from the back to the front in slabs of equal depth.

const SLABS = 40;
const FOG = 0.6; // How much of the color is lost at the back.
const GROWTH = 1.3; // Balls are drawn from pictures whose sizes differ by this factor.
const LEAST_RADIUS = 1.6;
const SMALL_RADIUS = 2.2; // Smaller balls are squares of the same area, which takes a tenth of the time.
const MOST_MOVING_LINKS = 20000;

class StructurePainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.balls = new Map();
  }

  resize(width, height, ratio) {
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.ratio = ratio;
    this.balls.clear();
  }

  // After a change of colors.
  forget() {
    this.balls.clear();
    this.mixed = new Map();
  }

  paint(app) {
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = app.colors.ground;
    context.fillRect(0, 0, app.view.width, app.view.height);
    if (app.layers.links) this.paintLinks(app);
    if (app.layers.reference && app.isCloud) this.paintReferencePoints(app);
    const items = this.sorted(app);
    for (let slab = 0; slab < SLABS; slab++) this.paintSlab(app, items, slab);
    this.paintAnchors(app);
  }

  // Given distances: thin lines behind everything, some of them while a large structure moves.
  paintLinks(app) {
    const { context } = this;
    const { links } = app.data;
    const { view, scene } = app;
    const step = app.isMoving ? Math.max(1, Math.ceil(links.length / 2 / MOST_MOVING_LINKS)) : 1;
    context.beginPath();
    for (let k = 0; k < links.length; k += 2 * step) {
      const [a, b] = [links[k], links[k + 1]];
      context.moveTo(view.screenX(scene.x[a]), view.screenY(scene.y[a]));
      context.lineTo(view.screenX(scene.x[b]), view.screenY(scene.y[b]));
    }
    context.lineWidth = 0.7;
    context.strokeStyle = app.colors.soft;
    context.globalAlpha = links.length > 20000 ? 0.25 : 0.45;
    context.stroke();
    context.globalAlpha = 1;
  }

  // What is drawn, in slabs of equal depth: points by their number, sticks by kind and position.
  sorted(app) {
    const { scene } = app;
    const kinds = app.stickKinds();
    let n = app.layers.points ? scene.n : 0;
    for (const kind of kinds) n += scene.sticks[kind].length / 3;
    const [slabOf, code, kindOf] = [new Uint8Array(n), new Int32Array(n), new Int8Array(n)];
    const start = new Int32Array(SLABS + 1);
    const factor = scene.isFlat ? 0 : (SLABS * 0.999999) / (2 * scene.reach);
    let at = 0;
    const put = (depth, what, kind) => {
      const slab = scene.isFlat ? SLABS - 1 : Math.max(0, Math.min(SLABS - 1, Math.floor((depth + scene.reach) * factor)));
      slabOf[at] = slab;
      code[at] = what;
      kindOf[at++] = kind;
      start[slab + 1]++;
    };
    kinds.forEach((kind, number) => {
      const sticks = scene.sticks[kind];
      for (let k = 0; k < sticks.length; k += 3) {
        put((scene.z[sticks[k]] + scene.z[sticks[k + 1]]) / 2, k, number);
      }
    });
    if (app.layers.points) for (let i = 0; i < scene.n; i++) put(scene.z[i], i, -1);
    for (let slab = 0; slab < SLABS; slab++) start[slab + 1] += start[slab];
    const next = start.slice();
    const order = new Int32Array(n);
    for (let k = 0; k < n; k++) order[next[slabOf[k]]++] = k;
    return { kinds, code, kindOf, start, order };
  }

  paintSlab(app, items, slab) {
    const { kinds, code, kindOf, start, order } = items;
    const batches = new Map();
    const balls = [];
    for (let k = start[slab]; k < start[slab + 1]; k++) {
      const item = order[k];
      if (kindOf[item] < 0) balls.push(code[item]);
      else {
        const owner = app.scene.sticks[kinds[kindOf[item]]][code[item] + 2];
        const key = kindOf[item] * 1024 + (owner < 0 ? 512 : app.shadeOf(owner));
        if (!batches.has(key)) batches.set(key, []);
        batches.get(key).push(code[item]);
      }
    }
    const fog = app.scene.isFlat ? 0 : FOG * (1 - (slab + 0.5) / SLABS) ** 1.5;
    for (const [key, codes] of batches) {
      const kind = kinds[key >> 10];
      this.paintSticks(app, kind, codes, this.color(app, key & 1023, fog));
    }
    const { scene } = app;
    balls.sort((a, b) => scene.z[a] - scene.z[b]);
    for (const point of balls) this.paintBall(app, point, fog);
  }

  paintSticks(app, kind, codes, color) {
    const { context } = this;
    const { view, scene } = app;
    const sticks = scene.sticks[kind];
    const isTrimmed = kind === "bonds" && app.layers.points;
    let end = -1;
    context.beginPath();
    for (const k of codes) {
      const [a, b] = [sticks[k], sticks[k + 1]];
      const [from, to] = isTrimmed ? [this.inside(app, a, b), this.inside(app, b, a)] : [0, 0];
      const [dx, dy] = [scene.x[b] - scene.x[a], scene.y[b] - scene.y[a]];
      if (a !== end || isTrimmed) context.moveTo(view.screenX(scene.x[a] + from * dx), view.screenY(scene.y[a] + from * dy));
      context.lineTo(view.screenX(scene.x[b] - to * dx), view.screenY(scene.y[b] - to * dy));
      end = b;
    }
    const width = app.widthOf(kind);
    if (kind === "ribbon" && !app.isMoving) {
      // A seam, so that crossing strands can be told apart.
      context.lineCap = "butt";
      context.lineWidth = width + 2.5;
      context.strokeStyle = app.colors.ground;
      context.stroke();
    }
    // Round ends take longer, and cannot be told from others while all moves.
    const isQuick = app.isMoving || width < 2;
    context.lineCap = isQuick ? "butt" : "round";
    context.lineJoin = isQuick ? "bevel" : "round";
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }

  // The fraction of a stick that lies inside the ball at its end, if there is one.
  inside(app, end, other) {
    const { x, y, z, n } = app.scene;
    if (end >= n) return 0;
    const length = Math.hypot(x[other] - x[end], y[other] - y[end], z[other] - z[end]);
    return length > 0 ? Math.min(0.95, (0.9 * app.radiusOf(end)) / app.view.k / length) : 0;
  }

  // The color of a shade, or of the reference (512), paler at the back.
  color(app, shade, fog) {
    const key = shade * 100 + Math.round(fog * 99);
    if (!this.mixed.has(key)) {
      const { rgb } = app.table;
      const own = shade === 512 ? rgbOf(app.colors.reference) : [rgb[3 * shade], rgb[3 * shade + 1], rgb[3 * shade + 2]];
      const ground = rgbOf(app.colors.ground);
      this.mixed.set(key, `rgb(${own.map((value, k) => Math.round(value + fog * (ground[k] - value))).join(",")})`);
    }
    return this.mixed.get(key);
  }

  paintBall(app, point, fog) {
    const { view, scene } = app;
    const radius = app.radiusOf(point);
    const [x, y] = [view.screenX(scene.x[point]), view.screenY(scene.y[point])];
    if (x < -radius || y < -radius || x > view.width + radius || y > view.height + radius) return;
    if (radius < SMALL_RADIUS) {
      this.context.fillStyle = this.color(app, app.shadeOf(point), fog);
      this.context.fillRect(x - 0.87 * radius, y - 0.87 * radius, 1.74 * radius, 1.74 * radius);
      return;
    }
    const ball = this.ball(app, app.shadeOf(point), fog, radius);
    this.context.drawImage(ball, x - 1.1 * radius, y - 1.1 * radius, 2.2 * radius, 2.2 * radius);
  }

  // A picture of a shaded ball, at least as large as asked for.
  ball(app, shade, fog, radius) {
    const level = Math.ceil(Math.log(radius * this.ratio) / Math.log(GROWTH));
    const key = (shade * 64 + Math.round(fog * 12)) * 64 + level;
    if (!this.balls.has(key)) {
      const r = GROWTH ** level;
      const size = Math.ceil(2.2 * r);
      const picture = make("canvas", { width: size, height: size });
      const context = picture.getContext("2d");
      const color = this.color(app, shade, Math.round(fog * 12) / 12);
      context.beginPath();
      context.arc(size / 2, size / 2, r, 0, 2 * Math.PI);
      context.fillStyle = color;
      context.fill();
      const light = context.createRadialGradient(size / 2 - 0.35 * r, size / 2 - 0.4 * r, 0.05 * r, size / 2, size / 2, r);
      light.addColorStop(0, "rgb(255 255 255 / 0.5)");
      light.addColorStop(0.45, "rgb(255 255 255 / 0)");
      light.addColorStop(1, "rgb(0 0 0 / 0.35)");
      context.fillStyle = light;
      context.fill();
      this.balls.set(key, picture);
    }
    return this.balls.get(key);
  }

  // Anchors have a square around them.
  paintAnchors(app) {
    const { context } = this;
    const { view, scene } = app;
    context.strokeStyle = app.colors.ink;
    context.lineWidth = 1.6;
    context.beginPath();
    for (const point of app.data.anchors) {
      const side = 2 * app.radiusOf(point) + 4;
      context.rect(view.screenX(scene.x[point]) - side / 2, view.screenY(scene.y[point]) - side / 2, side, side);
    }
    context.stroke();
  }

  // Points of a reference without bonds: rings.
  paintReferencePoints(app) {
    const { context } = this;
    const { view, scene } = app;
    context.strokeStyle = app.colors.reference;
    context.lineWidth = 1.2;
    context.beginPath();
    for (let i = 0; i < scene.n; i++) {
      const x = view.screenX(scene.x[scene.n + i]);
      const y = view.screenY(scene.y[scene.n + i]);
      if (x !== x) continue;
      const r = Math.max(1.5, 0.8 * app.radiusOf(i));
      context.moveTo(x + r, y);
      context.arc(x, y, r, 0, 2 * Math.PI);
    }
    context.stroke();
  }
}
