// Curves by time, with a cursor that follows the animation; a click or drag sets the time.

const CURVES = ["#3f7fc1", "#e07b39", "#3a9b8c", "#b35fa3", "#c9961f", "#6b9440"];
const MARGIN = { left: 46, right: 10, top: 8, bottom: 20 };
const MOST_CURVES = 6;

class Plot {
  // `chosen()` gives the curves to draw: [{name, unit, y, total}].
  constructor(parent, { title, note, log, choices, chosen }, times, setTime) {
    Object.assign(this, { title, log, chosen, times, setTime });
    this.element = make("section", { className: "plot" }, parent);
    const head = make("div", { className: "plot-head" }, this.element);
    make("h2", { textContent: title }, head);
    if (note) make("span", { className: "note", textContent: note }, head);
    if (choices) {
      this.select = make("select", { ariaLabel: `${title}: what is shown` }, head);
      for (const [value, text] of choices) make("option", { value, textContent: text }, this.select);
      this.select.addEventListener("change", () => this.update());
    }
    this.legend = make("div", { className: "legend" }, this.element);
    this.field = make("div", { className: "field" }, this.element);
    this.canvas = make("canvas", {}, this.field);
    this.canvas.setAttribute("role", "img");
    this.cursor = make("div", { className: "cursor" }, this.field);
    this.cursor.setAttribute("aria-hidden", "true");
    const pick = (event) => {
      const box = this.field.getBoundingClientRect();
      const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
      this.setTime(this.first + clamp(share, 0, 1) * (this.last - this.first));
    };
    this.field.addEventListener("pointerdown", (event) => {
      this.field.setPointerCapture(event.pointerId);
      pick(event);
    });
    this.field.addEventListener("pointermove", (event) => event.buttons && pick(event));
    this.update();
  }

  get first() {
    return this.times[0];
  }

  get last() {
    return this.times[this.times.length - 1];
  }

  // Takes the curves anew, and draws them.
  update(times = this.times) {
    this.times = times;
    this.curves = this.chosen(this.select && this.select.value);
    this.legend.replaceChildren();
    this.readings = this.curves.map((curve, k) => {
      const entry = make("span", { className: "entry" }, this.legend);
      const swatch = make("i", {}, entry);
      swatch.style.background = CURVES[k % CURVES.length];
      make("span", { textContent: curve.name }, entry);
      return make("b", {}, entry);
    });
    for (const curve of this.curves)
      if (curve.total !== undefined) make("span", { className: "entry total", textContent: `${curve.name} = ${short(curve.total, 6)}` }, this.legend);
    this.canvas.setAttribute("aria-label", `${this.title} by time: ${this.curves.map((curve) => curve.name).join(", ")}`);
    this.draw();
    if (this.time !== undefined) this.show(this.time);
  }

  // Puts the cursor and the readings at a time.
  show(time) {
    this.time = time;
    const width = this.field.clientWidth - MARGIN.left - MARGIN.right;
    const share = this.last > this.first ? (time - this.first) / (this.last - this.first) : 0;
    this.cursor.style.transform = `translateX(${MARGIN.left + share * width}px)`;
    const f = indexBefore(this.times, time);
    const g = Math.min(f + 1, this.times.length - 1);
    const part = g > f ? (time - this.times[f]) / (this.times[g] - this.times[f]) : 0;
    this.curves.forEach((curve, k) => {
      const value = curve.y[f] + part * (curve.y[g] - curve.y[f]);
      this.readings[k].textContent = `${short(value)}${curve.unit ? ` ${curve.unit}` : ""}`;
    });
  }

  range() {
    let [low, high] = [Infinity, -Infinity];
    for (const curve of this.curves)
      for (const y of curve.y)
        if (Number.isFinite(y)) [low, high] = [Math.min(low, y), Math.max(high, y)];
    if (!(low <= high)) return [0, 1];
    if (this.log) return [Math.floor(Math.log10(low)), Math.max(Math.ceil(Math.log10(high)), Math.floor(Math.log10(low)) + 1)];
    const pad = 0.06 * (high - low) || 0.05 * Math.abs(high) || 1;
    return [low - pad, high + pad];
  }

  draw() {
    const [width, height] = [this.field.clientWidth, this.field.clientHeight];
    if (!width) return;
    const context = sharp(this.canvas, width, height);
    const style = getComputedStyle(document.documentElement);
    const [line, text] = [style.getPropertyValue("--line"), style.getPropertyValue("--quiet")];
    const [low, high] = this.range();
    const x = (t) => MARGIN.left + ((t - this.first) / (this.last - this.first || 1)) * (width - MARGIN.left - MARGIN.right);
    const level = (y) => (this.log ? Math.log10(y) : y);
    const y = (v) => height - MARGIN.bottom - ((level(v) - low) / (high - low)) * (height - MARGIN.top - MARGIN.bottom);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = text;
    context.strokeStyle = line;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const tick of this.log ? decades(low, high) : steps(low, high, 4)) {
      const at = Math.round(y(this.log ? 10 ** tick : tick)) + 0.5;
      segment(context, MARGIN.left, at, width - MARGIN.right, at);
      context.fillText(this.log ? `1e${tick}`.replace("-", "−") : short(tick), MARGIN.left - 6, at);
    }
    context.textBaseline = "alphabetic";
    context.textAlign = "center";
    const ticks = steps(this.first, this.last, 6);
    ticks.forEach((tick, k) => {
      const at = Math.round(x(tick)) + 0.5;
      segment(context, at, MARGIN.top, at, height - MARGIN.bottom);
      const label = k === ticks.length - 1 ? `${short(tick)} s` : short(tick);
      context.fillText(label, Math.min(at, width - context.measureText(label).width / 2 - 1), height - 6);
    });
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, 0, width - MARGIN.left - MARGIN.right, height - MARGIN.bottom + 2);
    context.clip();
    context.lineJoin = "round";
    context.lineWidth = 1.6;
    this.curves.forEach((curve, k) => {
      context.strokeStyle = CURVES[k % CURVES.length];
      context.beginPath();
      let on = false;
      for (let f = 0; f < this.times.length; f++) {
        const v = curve.y[f];
        const good = Number.isFinite(v) && (!this.log || v > 0);
        if (good) context[on ? "lineTo" : "moveTo"](x(this.times[f]), y(v));
        on = good;
      }
      context.stroke();
    });
    context.restore();
  }
}

// All plots of a scene: its curves, and the coordinates of a marker.
class Plots {
  constructor(parent, drawing, setTime) {
    this.parent = parent;
    this.setTime = setTime;
    this.fill(drawing);
  }

  fill(drawing) {
    this.drawing = drawing;
    const kept = (this.list || []).map((plot) => plot.select && plot.select.value);
    this.parent.replaceChildren();
    this.curves = new Map(drawing.scene.plots.map((plot) => [plot.title, plot.series.map((s) => ({ ...s, y: unpacked(s.y) }))]));
    const markers = drawing.scene.markers.filter((marker) => marker.body > 0);
    this.list = [];
    if (markers.length) {
      const order = [...new Set([...drawing.scene.traces, ...markers.map((marker) => marker.name)])];
      this.add({ title: "Marker", choices: order.map((name) => [name, name]), chosen: (name) => this.components(name) });
    }
    for (const { title, note, log, choose } of drawing.scene.plots) {
      const series = this.curves.get(title);
      const few = series.slice(0, MOST_CURVES);
      const names = series.map((s) => [s.name, s.name]);
      const several = ["", few.length < series.length ? `first ${few.length}` : "all"];
      this.add({
        title, note: choose && series.length > 1 ? undefined : note, log,
        choices: choose && series.length > 1 ? (choose === "one" ? [...names, several] : [several, ...names]) : undefined,
        chosen: (name) => (name ? series.filter((s) => s.name === name) : few),
      });
    }
    this.list.forEach((plot, k) => {
      const value = kept[k];
      if (plot.select && value !== undefined && [...plot.select.options].some((option) => option.value === value)) {
        plot.select.value = value;
        plot.update();
      }
    });
  }

  add(spec) {
    this.list.push(new Plot(this.parent, spec, this.drawing.times, this.setTime));
  }

  components(name) {
    const path = this.drawing.path(name);
    return ["x", "y", "z"].map((axis, i) => ({ name: axis, unit: "m", y: Float32Array.from(path, (p) => p[i]) }));
  }

  show(time) {
    for (const plot of this.list) plot.show(time);
  }

  redraw() {
    for (const plot of this.list) {
      plot.draw();
      if (plot.time !== undefined) plot.show(plot.time);
    }
  }
}

// --- small ones ---

function make(tag, properties, parent) {
  const element = Object.assign(document.createElement(tag), properties);
  if (parent) parent.append(element);
  return element;
}

// The context of a canvas whose pixels are those of the screen, in units of the page.
function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function segment(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

// Round numbers from low to high.
function steps(low, high, count) {
  if (!(high > low)) return [low];
  const step = niceStep(high - low, count);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

// Whole decades, at most six of them.
function decades(low, high) {
  const step = Math.max(1, Math.ceil((high - low) / 5));
  const out = [];
  for (let k = low; k <= high; k += step) out.push(k);
  return out;
}
