// Arrows to scale: velocities of points and centres of mass, weights, forces, reactions, and moments with two heads. All that have
// one unit share a scale, whose longest arrow is a quarter of the mechanism; the slider of the menu makes them longer.

const LONGEST = 0.25;
const KINDS = {
  velocity: { shown: "velocities", colour: rgb("#2f9e58"), unit: "m/s" },
  weight: { shown: "weights", colour: rgb("#8a6d3b"), unit: "N" },
  force: { shown: "forces", colour: rgb("#d43d3d"), unit: "N" },
  reaction: { shown: "reactions", colour: rgb("#8544c2"), unit: "N" },
  moment: { shown: "moments", colour: rgb("#e0821f"), unit: "N m" },
  "reaction moment": { shown: "moments", colour: rgb("#b565c9"), unit: "N m" },
};

// Packed vectors (or numbers) of some owners by frame: `kinegrad.page.packing.brief`.
class Vectors {
  constructor({ scale, y }, owners, width = 3) {
    Object.assign(this, { scale, owners, width, numbers: unpacked(y, Int16Array) });
    this.frames = this.numbers.length / (owners * width);
  }

  // Of one owner, between frames f and f + 1; what has one frame is constant.
  vector(owner, f, part) {
    const at = (frame, c) => this.numbers[this.width * (Math.min(frame, this.frames - 1) * this.owners + owner) + c];
    return Array.from({ length: this.width }, (_, c) => this.scale * (at(f, c) + part * (at(f + 1, c) - at(f, c))));
  }

  get largest() {
    let most = 0;
    for (let k = 0; k < this.numbers.length; k += this.width) most = Math.max(most, Math.hypot(...this.numbers.subarray(k, k + this.width)));
    return this.scale * most;
  }
}

class Arrows {
  constructor(drawing) {
    this.drawing = drawing;
    const { scene } = drawing;
    this.list = scene.arrows.map((arrow) => {
      const vectors = new Vectors(arrow.y, 1, arrow.ends.length === 2 ? 1 : 3);
      return { ...arrow, vectors, largest: vectors.largest };
    });
    this.points = scene.bodies.flatMap((body, k) => (k ? [{ name: `${body.name}.com`, body: k, at: body.com }] : []));
    for (const name of scene.traces) this.points.push(drawing.marker(name));
  }

  // Largest size by unit among the kinds that are shown; velocities by those of the frames.
  largest(shown) {
    const found = {};
    for (const { kind, unit, largest } of this.list) if (shown[KINDS[kind].shown]) found[unit] = Math.max(found[unit] || 0, largest);
    if (shown.velocities) found["m/s"] = this.fastest ||= this.fastestOf();
    return found;
  }

  fastestOf() {
    const { drawing } = this;
    const kept = [drawing.frame, drawing.part];
    let most = 0;
    for (let f = 0; f < drawing.times.length; f += Math.max(1, drawing.times.length >> 6))
      for (const point of this.points) {
        const [v, w] = [drawing.linear, drawing.angular].map((list) => (list ? list.vector(point.body - 1, f, 0) : [0, 0, 0]));
        most = Math.max(most, norm(add(v, cross(w, turn(drawing.poseAt(point.body, f), point.at)))));
      }
    [drawing.frame, drawing.part] = kept;
    return most;
  }

  // Metres of an arrow for each unit: {N: 0.01, ...}.
  scales(shown) {
    const span = LONGEST * this.drawing.reach * shown.length;
    return Object.fromEntries(Object.entries(this.largest(shown)).filter(([, most]) => most > 0).map(([unit, most]) => [unit, span / most]));
  }

  // [{name, kind, from, vector}] at the time of the drawing.
  now(shown) {
    const { drawing } = this;
    const found = [];
    if (shown.velocities) for (const point of this.points) found.push({ name: point.name, kind: "velocity", body: point.body, from: drawing.at(point), vector: drawing.velocity(point) });
    for (const { name, kind, ends, vectors } of this.list) {
      if (!shown[KINDS[kind].shown]) continue;
      const value = vectors.vector(0, drawing.frame, drawing.part);
      const places = ends.map((end) => drawing.at(end));
      if (ends.length === 1) found.push({ name, kind, body: ends[0].body, from: places[0], vector: value });
      else
        ends.forEach((end, k) => {
          const pull = mul(value[0], unit(sub(places[1 - k], places[k])));
          found.push({ name, kind, body: end.body, from: places[k], vector: pull });
        });
    }
    return found.filter(({ body, kind }) => drawing.bodies[body].opacity > 0 || kind === "reaction");
  }

  put(put, shown) {
    const scales = this.scales(shown);
    const r = 0.55 * this.drawing.scene.radius;
    for (const { kind, from, vector } of this.now(shown)) {
      const { colour, unit: measure } = KINDS[kind];
      const whole = mul(scales[measure] || 0, vector);
      const length = norm(whole);
      if (!(length > 0.5 * r)) continue;
      const head = Math.min(5 * r, 0.6 * length);
      const along = unit(whole);
      const neck = add(from, mul(length - head, along));
      put("cylinder", rod(from, neck, r), colour);
      put("cone", rod(neck, add(from, whole), 2.2 * Math.min(r, head / 3)), colour);
      if (measure === "N m") put("cone", rod(sub(neck, mul(0.7 * head, along)), add(from, mul(length - 0.7 * head, along)), 2.2 * Math.min(r, head / 3)), colour);
    }
  }
}
