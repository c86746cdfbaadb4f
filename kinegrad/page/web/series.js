// Curves of one motion by name: those packed into the page, components of points from where bodies are, and those that the
// server of a live page has.

const AXES = ["x", "y", "z"];

class Series {
  constructor(drawing) {
    const { scene } = drawing;
    this.drawing = drawing;
    this.times = drawing.times;
    this.known = new Map();
    this.offered = new Map((scene.offered || []).map(([name, unit, group, owner, meaning]) => [name, { name, unit, group, owner, meaning }]));
    for (const marker of scene.markers)
      if (marker.body)
        AXES.forEach((axis, i) =>
          this.known.set(`${marker.name}.${axis}`, {
            name: `${marker.name}.${axis}`, unit: "m", group: "marker", owner: scene.bodies[marker.body].name,
            meaning: `Position of ${marker.name}, global ${axis}.`, marker: marker.name, axis: i,
          }));
    this.add(scene.series);
  }

  // Takes packed ones.
  add(rows) {
    for (const row of rows) this.known.set(row.name, row);
  }

  has(name) {
    return this.known.has(name);
  }

  // What can be chosen, whether it is here or has to be asked for.
  info(name) {
    return this.known.get(name) || this.offered.get(name);
  }

  // The numbers, one for each frame; null where they are not here.
  values(name) {
    const one = this.known.get(name);
    if (!one) return null;
    if (!one.numbers) one.numbers = one.y ? unpacked(one.y) : Float32Array.from(this.drawing.path(one.marker), (p) => p[one.axis]);
    return one.numbers;
  }

  // The value at a time, between frames on a straight line.
  at(name, time) {
    const y = this.values(name);
    if (!y || time < this.times[0] - 1e-9 || time > this.times[this.times.length - 1] + 1e-9) return NaN;
    const f = indexBefore(this.times, time);
    const g = Math.min(f + 1, this.times.length - 1);
    const part = g > f ? clamp((time - this.times[f]) / (this.times[g] - this.times[f]), 0, 1) : 0;
    return part ? y[f] + part * (y[g] - y[f]) : y[f];
  }

  // All that can be chosen: those of the page first, then the offered.
  list() {
    return [...new Map([...this.offered, ...this.known]).values()];
  }
}
