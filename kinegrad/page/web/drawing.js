// What is drawn at a time: solids by kind with their matrices and colours, and lines. Both views read the same lists.

const PALETTE = ["#4a7fb5", "#e07b39", "#3a9b8c", "#b35fa3", "#d3a02a", "#6b9440", "#c8504f", "#7a6cc9"].map(rgb);
const BLEND = ["#3f6fb5", "#3a9b8c", "#d3a02a", "#d9643a"].map(rgb);
const MANY = 24; // bodies from which centres of mass are not shown at first
const SHOWN = {
  traces: true, joints: true, centres: true, grid: true, frames: false, names: false, velocities: false, forces: false, weights: false,
  reactions: false, moments: false, length: 1,
};
const TURNS = 9; // of a spring
const BETWEEN_TURNS = 14;

// Bodies take colours in turn; many of them blend from one to the next along the file.
function bodyColour(k, count) {
  if (count <= 2 * PALETTE.length) return PALETTE[k % PALETTE.length];
  const at = (k / (count - 1)) * (BLEND.length - 1);
  const i = Math.min(Math.floor(at), BLEND.length - 2);
  return mix(BLEND[i], BLEND[i + 1], at - i);
}

class Drawing {
  constructor(scene) {
    this.scene = scene;
    this.opacity = 1; // of all, less where another motion leads
    this.times = unpacked(scene.times);
    this.poses = unpacked(scene.poses);
    this.moving = scene.bodies.length - 1;
    this.linear = scene.velocities && new Vectors(scene.velocities, this.moving);
    this.angular = scene.spins && new Vectors(scene.spins, this.moving);
    this.meshes = [];
    this.bodies = scene.bodies.map((body, k) => ({
      name: body.name,
      com: body.com,
      opacity: 1,
      solids: body.solids.map((solid) => ({
        kind: solid.kind === "mesh" ? this.addMesh(solid) : solid.kind,
        matrix: solid.matrix,
        colour: solid.colour ? rgb(solid.colour) : k ? bodyColour(k - 1, this.moving) : null,
      })),
    }));
    this.size = norm(sub(scene.high, scene.low)) || 1;
    this.traced = new Set(scene.traces);
    this.reach = this.size;
    this.paths = new Map();
    this.travel = scene.joints.map((joint) => this.travelOf(joint));
    this.floor = this.floorOf();
    this.current = scene.bodies.map(() => [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    this.arrows = new Arrows(this);
    this.goTo(this.times[0]);
  }

  addMesh(solid) {
    this.meshes.push(meshSolid(unpacked(solid.vertices), unpacked(solid.triangles, Uint32Array)));
    return `mesh${this.meshes.length - 1}`;
  }

  // Adds its meshes to a list of all, and calls them by their number there.
  numberMeshes(all) {
    let k = all.length;
    for (const body of this.bodies) for (const solid of body.solids) if (solid.kind.startsWith("mesh")) solid.kind = `mesh${k++}`;
    all.push(...this.meshes);
  }

  // The centre of mass of a body, now.
  centre(body) {
    return place(this.current[body], this.bodies[body].com);
  }

  // [low, high] of all points of bodies, seen from the centre of mass of one, over all frames; the ground is left out.
  boxAround(body) {
    const box = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    const points = [...this.scene.markers.filter((marker) => marker.body), ...this.bodies.flatMap(({ com }, k) => (k ? [{ body: k, at: com }] : []))];
    for (let f = 0; f < this.times.length; f += Math.max(1, this.times.length >> 5)) {
      const origin = place(this.poseAt(body, f), this.bodies[body].com);
      for (const point of points) {
        const d = sub(place(this.poseAt(point.body, f), point.at), origin);
        if (d.every(Number.isFinite)) d.forEach((x, i) => ((box[0][i] = Math.min(box[0][i], x)), (box[1][i] = Math.max(box[1][i], x))));
      }
    }
    const pad = 0.25 * norm(sub(box[1], box[0])) + 3 * this.scene.radius;
    return [box[0].map((x) => x - pad), box[1].map((x) => x + pad)];
  }

  // Pose of body k (0 is the ground) at frame f, or between f and f + 1.
  poseAt(k, f, part = 0) {
    if (k === 0) return [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0];
    const i = 7 * (f * this.moving + k - 1);
    const j = part > 0 ? i + 7 * this.moving : i;
    const v = [];
    for (let c = 0; c < 7; c++) v.push(this.poses[i + c] + part * (this.poses[j + c] - this.poses[i + c]));
    return [...columns(v[3], v[4], v[5], v[6]), v[0], v[1], v[2]];
  }

  goTo(time) {
    const f = indexBefore(this.times, time);
    const span = f + 1 < this.times.length ? this.times[f + 1] - this.times[f] : 0;
    const part = span > 0 ? clamp((time - this.times[f]) / span, 0, 1) : 0;
    this.frame = f;
    this.part = part;
    for (let k = 1; k < this.bodies.length; k++) this.current[k] = this.poseAt(k, f, part);
  }

  at(end) {
    return place(this.current[end.body], end.at);
  }

  // Velocity of a point of a body, now.
  velocity(end) {
    if (!end.body) return [0, 0, 0];
    const [v, w] = [this.linear, this.angular].map((list) => list ? list.vector(end.body - 1, this.frame, this.part) : [0, 0, 0]);
    return add(v, cross(w, turn(this.current[end.body], end.at)));
  }

  marker(name) {
    return this.scene.markers.find((marker) => marker.name === name);
  }

  // The course of a marker over all frames, computed at its first use.
  path(name) {
    if (!this.paths.has(name)) {
      const marker = this.marker(name);
      const path = [];
      for (let f = 0; f < this.times.length; f++) path.push(place(this.poseAt(marker.body, f), marker.at));
      this.paths.set(name, path);
    }
    return this.paths.get(name);
  }

  // How far a joint with a rail goes along its axis.
  travelOf(joint) {
    if (!joint.rail) return null;
    const axis = unit(joint.axes[0]);
    let [low, high] = [Infinity, -Infinity];
    for (let f = 0; f < this.times.length; f++) {
      const first = this.poseAt(joint.ends[0].body, f);
      const second = this.poseAt(joint.ends[1].body, f);
      const d = dot(sub(place(second, joint.ends[1].at), place(first, joint.ends[0].at)), turn(first, axis));
      if (Number.isFinite(d)) [low, high] = [Math.min(low, d), Math.max(high, d)];
    }
    return low <= high ? [low, high] : [0, 0];
  }

  // The plane of the grid: across `up`, a little below everything.
  floorOf() {
    const { low, high, radius } = this.scene;
    const up = unit(this.scene.up);
    let least = Infinity;
    for (let k = 0; k < 8; k++) least = Math.min(least, dot(up, [0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i]))));
    return { up, height: least - 4 * radius };
  }

  // --- lists ---

  // Adds what is seen to {solids: {kind: [[matrix, colour, opacity], ...]}, lines: Lines}.
  lists(shown, theme, found = { solids: {}, lines: new Lines() }) {
    const { solids, lines } = found;
    const put = (kind, matrix, colour, opacity = this.opacity) => (solids[kind] ||= []).push([matrix, colour, opacity]);
    this.bodies.forEach((body, k) => {
      const opacity = this.opacity * body.opacity;
      if (!opacity) return;
      for (const solid of body.solids) put(solid.kind, within(this.current[k], solid.matrix), solid.colour || theme.ground, opacity);
      if (shown.centres && k) put("sphere", ball(place(this.current[k], body.com), 1.35 * this.scene.radius), theme.centre);
    });
    const seen = ({ ends }) => ends.some((end) => this.bodies[end.body].opacity > 0 && (end.body > 0 || ends.every((one) => !one.body || this.bodies[one.body].opacity > 0)));
    const springs = this.scene.springs.filter(seen);
    if (shown.joints) this.scene.joints.forEach((joint, k) => seen(joint) && this.putJoint(put, joint, this.travel[k], theme));
    for (const spring of springs)
      for (const end of spring.ends) put("sphere", ball(this.at(end), (end.body ? 0.7 : 1.4) * this.scene.radius), end.body ? theme.spring : theme.ground);
    for (const bar of this.scene.bars.filter(seen)) put("cylinder", rod(this.at(bar.ends[0]), this.at(bar.ends[1]), 0.6 * this.scene.radius), theme.joint);
    if (shown.grid && this.opacity === 1) this.putGrid(lines, theme);
    if (shown.traces) this.putTraces(lines);
    for (const spring of springs) this.putSpring(lines, spring, theme);
    if (shown.frames) this.putFrames(lines);
    this.arrows.put((...one) => put(...one, 1), shown);
    return found;
  }

  putJoint(put, joint, travel, theme) {
    const r = this.scene.symbol;
    const ends = joint.ends.map((end) => this.at(end));
    const axes = joint.axes.map((axis, k) => unit(turn(this.current[joint.ends[k].body], axis)));
    if (travel) {
      const [low, high] = [travel[0] - 6 * r, travel[1] + 6 * r].map((s) => add(ends[0], mul(s, axes[0])));
      put("cylinder", rod(low, high, 0.8 * r), theme.ground);
    }
    for (const { solid, radius, length, end, axis, shift } of joint.symbols) {
      const u = axis === null ? [0, 0, 1] : axes[axis];
      put(solid, SYMBOLS[solid](add(ends[end], mul(shift * r, u)), u, length * r, radius * r), theme.joint);
    }
    if (joint.support) joint.ends.forEach((end, k) => end.body === 0 && put("box", this.support(ends[k], axes[0]), theme.ground));
  }

  // A block under a joint that is held by the ground.
  support(p, axis) {
    const r = this.scene.radius;
    const up = this.floor.up;
    const deep = axis && Math.abs(dot(axis, up)) < 0.9 ? unit(sub(axis, mul(dot(axis, up), up))) : across(up)[0];
    const wide = cross(up, deep);
    return [...mul(2.4 * r, deep), ...mul(4.6 * r, wide), ...mul(3.6 * r, up), ...sub(p, mul(1.8 * r, up))];
  }

  putGrid(lines, theme) {
    const { up, height } = this.floor;
    const centre = mul(0.5, add(this.scene.low, this.scene.high));
    const step = niceStep(this.size, 8);
    const reach = 1.5 * this.size;
    const [east, north] = Math.abs(up[2]) > 0.99 ? [[1, 0, 0], [0, 1, 0]] : Math.abs(up[1]) > 0.99 ? [[1, 0, 0], [0, 0, 1]] : across(up);
    const middle = [east, north].map((axis) => Math.round(dot(centre, axis) / step));
    const n = Math.ceil(reach / step);
    const at = (i, j) => add(mul(height, up), add(mul((middle[0] + i) * step, east), mul((middle[1] + j) * step, north)));
    const alpha = (i, j) => 0.9 * Math.max(0, 1 - Math.hypot(i, j) / n) ** 1.3;
    for (let i = -n; i <= n; i++)
      for (let j = -n; j < n; j++) {
        const k = alpha(i, j + 0.5);
        if (k < 0.02) continue;
        lines.put(at(i, j), at(i, j + 1), theme.grid, k, 1);
        lines.put(at(j, i), at(j + 1, i), theme.grid, k, 1);
      }
  }

  putTraces(lines) {
    for (const name of this.traced) {
      if (!this.marker(name) || !this.bodies[this.marker(name).body].opacity) continue;
      const path = this.path(name);
      const colour = bodyColour(this.marker(name).body - 1, this.moving);
      for (let f = 0; f + 1 < path.length; f++) {
        const past = f < this.frame;
        lines.put(path[f], path[f + 1], colour, this.opacity * (past ? 0.85 : 0.22), past ? 1.8 : 1.3);
      }
      if (this.frame + 1 < path.length) lines.put(path[this.frame], mix(path[this.frame], path[this.frame + 1], this.part), colour, 0.85, 1.8);
    }
  }

  putSpring(lines, spring, theme) {
    const [a, b] = spring.ends.map((end) => this.at(end));
    const length = norm(sub(b, a));
    if (!(length > 0)) return;
    const z = unit(sub(b, a));
    const [x, y] = across(z);
    const r = this.scene.radius * 2.4;
    const straight = Math.min(0.1 * length, 3 * this.scene.radius);
    const steps = TURNS * BETWEEN_TURNS;
    const strain = spring.natural > 0 ? clamp((length / spring.natural - 1) * 2, -1, 1) : 1;
    const colour = mix(theme.spring, strain > 0 ? theme.pulled : theme.pressed, Math.abs(strain));
    let before = a;
    for (let k = 0; k <= steps; k++) {
      const s = k / steps;
      const ease = Math.min(1, 8 * s, 8 * (1 - s));
      const turns = 2 * Math.PI * TURNS * s;
      const p = add(add(a, mul(straight + s * (length - 2 * straight), z)),
        add(mul(ease * r * Math.cos(turns), x), mul(ease * r * Math.sin(turns), y)));
      lines.put(before, p, colour, this.opacity, 2);
      before = p;
    }
    lines.put(before, b, colour, this.opacity, 2);
  }

  putFrames(lines) {
    const length = Math.min(0.08 * this.size, 14 * this.scene.radius);
    const colours = [[0.85, 0.25, 0.25], [0.2, 0.65, 0.3], [0.25, 0.45, 0.95]];
    for (const pose of this.current)
      for (let k = 0; k < 3; k++) lines.put(pose.slice(9), add(pose.slice(9), mul(length, pose.slice(3 * k, 3 * k + 3))), colours[k], 1, 2.4);
  }
}

// Matrices of simple solids.
const ball = (p, r) => [r, 0, 0, 0, r, 0, 0, 0, r, ...p];
function rod(a, b, r) {
  const d = sub(b, a);
  const [x, y] = across(unit(d));
  return [...mul(r, x), ...mul(r, y), ...d, ...mul(0.5, add(a, b))];
}
function block(p, axis, length, width) {
  const [x, y] = across(axis);
  return [...mul(width, x), ...mul(width, y), ...mul(length, axis), ...p];
}

// Symbols of joints: around p, `length` along the unit vector u.
const SYMBOLS = {
  cylinder: (p, u, length, radius) => rod(sub(p, mul(length / 2, u)), add(p, mul(length / 2, u)), radius),
  box: block,
  sphere: (p, u, length, radius) => ball(p, radius),
};

// Segments in one growing array: two points, colour, opacity, width in pixels.
class Lines {
  constructor() {
    this.count = 0;
    this.data = new Float32Array(11 * 4096);
  }

  put(a, b, colour, opacity, width) {
    if (11 * (this.count + 1) > this.data.length) {
      const larger = new Float32Array(2 * this.data.length);
      larger.set(this.data);
      this.data = larger;
    }
    this.data.set([...a, ...b, ...colour, opacity, width], 11 * this.count++);
  }
}
