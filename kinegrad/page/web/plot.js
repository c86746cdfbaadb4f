// Curves of one unit by time, with a cursor that follows the animation; a click or drag sets the time, and the numbers under
// the mouse are told beside it.

const CURVES = ["#3f7fc1", "#e07b39", "#3a9b8c", "#b35fa3", "#c9961f", "#6b9440", "#c8504f", "#7a6cc9"];
const DASHES = [[], [5, 4], [1.5, 3]]; // of the motions that are shown together
const LEAST_LEFT = 34;

class Plot {
  // `curves` are [{name, unit, label, colour, dash, series, total}], `setTime(time)` is called by clicks.
  constructor(parent, { curves, log, title }, clock, setTime) {
    Object.assign(this, { curves, log, title, clock, setTime, left: LEAST_LEFT });
    this.legend = make("div", { className: "legend" }, parent);
    this.field = make("div", { className: "field" }, parent);
    this.canvas = make("canvas", {}, this.field);
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${title} by time: ${curves.map((curve) => curve.name).join(", ")}`);
    this.cursor = make("div", { className: "cursor" }, this.field);
    this.hair = make("div", { className: "hair", hidden: true }, this.field);
    this.tip = make("div", { className: "tip", hidden: true }, this.field);
    for (const part of [this.cursor, this.hair, this.tip]) part.setAttribute("aria-hidden", "true");
    this.fillLegend();
    this.listen();
  }

  fillLegend() {
    this.readings = this.curves.map((curve) => {
      const entry = make("span", { className: "entry", title: curve.meaning || curve.name }, this.legend);
      const swatch = make("i", {}, entry);
      swatch.style.background = curve.dash.length ? `repeating-linear-gradient(90deg, ${curve.colour} 0 3px, transparent 3px 5px)` : curve.colour;
      make("span", { className: "entry-name", textContent: curve.label }, entry);
      return make("b", {}, entry);
    });
    for (const curve of this.curves)
      if (curve.total !== undefined) make("span", { className: "entry total", textContent: `${curve.label} = ${short(curve.total, 6)}` }, this.legend);
  }

  listen() {
    this.field.addEventListener("pointerdown", (event) => {
      this.field.setPointerCapture(event.pointerId);
      this.setTime(this.timeAt(event));
    });
    this.field.addEventListener("pointermove", (event) => {
      if (event.buttons) this.setTime(this.timeAt(event));
      this.point(this.timeAt(event));
    });
    this.field.addEventListener("pointerleave", () => (this.hair.hidden = this.tip.hidden = true));
  }

  get box() {
    const [width, height] = [this.field.clientWidth, this.field.clientHeight];
    return { width, height, left: this.left, right: width - 10, top: this.note ? 17 : 8, bottom: height - 20 };
  }

  timeAt(event) {
    const { left, right } = this.box;
    const x = event.clientX - this.field.getBoundingClientRect().left;
    return this.clock.first + clamp((x - left) / (right - left), 0, 1) * (this.clock.last - this.clock.first);
  }

  place(time) {
    const { left, right } = this.box;
    const span = this.clock.last - this.clock.first;
    return left + (span > 0 ? (time - this.clock.first) / span : 0) * (right - left);
  }

  reading(curve, time) {
    return `${short(curve.series.at(curve.name, time), 4)}${curve.unit ? ` ${curve.unit}` : ""}`;
  }

  // Puts the cursor and the readings at a time.
  show(time) {
    this.cursor.style.transform = `translateX(${this.place(time)}px)`;
    this.curves.forEach((curve, k) => (this.readings[k].textContent = this.reading(curve, time)));
  }

  // Tells the numbers under the mouse.
  point(time) {
    this.hair.hidden = this.tip.hidden = false;
    const x = this.place(time);
    this.hair.style.transform = `translateX(${x}px)`;
    this.tip.replaceChildren(make("div", { textContent: `t = ${short(time, 4)} s` }));
    for (const curve of this.curves) {
      const row = make("div", { textContent: this.reading(curve, time) }, this.tip);
      row.style.color = curve.colour;
    }
    this.tip.style.left = x > this.field.clientWidth / 2 ? "" : `${x + 8}px`;
    this.tip.style.right = x > this.field.clientWidth / 2 ? `${this.field.clientWidth - x + 8}px` : "";
  }

  range() {
    let [low, high] = [Infinity, -Infinity];
    for (const curve of this.curves)
      for (const y of curve.series.values(curve.name))
        if (Number.isFinite(y) && (!this.log || y > 0)) [low, high] = [Math.min(low, y), Math.max(high, y)];
    if (!(low <= high)) return [0, 1];
    if (this.log) return [Math.floor(Math.log10(low)), Math.max(Math.ceil(Math.log10(high)), Math.floor(Math.log10(low)) + 1)];
    const pad = high - low > 1e-6 * Math.max(Math.abs(low), Math.abs(high)) ? 0.06 * (high - low) : 0.05 * Math.abs(high) || 1;
    return [low - pad, high + pad];
  }

  // Finds ticks and labels; the width that the labels need.
  measure() {
    const context = this.canvas.getContext("2d");
    context.font = FONT;
    [this.low, this.high] = this.range();
    this.ticks = this.log ? decades(this.low, this.high) : steps(this.low, this.high, 4);
    const told = this.log ? { labels: this.ticks.map((k) => `1e${k}`.replace("-", "−")), note: "" } : tickLabels(this.ticks);
    this.labels = told.labels;
    this.note = told.note;
    return Math.max(...this.labels.map((label) => context.measureText(label).width)) + 10;
  }

  draw() {
    const { width, height, left, right, top, bottom } = this.box;
    if (!width) return;
    const context = sharp(this.canvas, width, height);
    const level = (y) => (this.log ? Math.log10(y) : y);
    const at = (v) => bottom - ((v - this.low) / (this.high - this.low)) * (bottom - top);
    context.font = FONT;
    context.fillStyle = styled("--quiet");
    context.strokeStyle = styled("--line");
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    this.ticks.forEach((tick, k) => {
      const y = Math.round(at(tick)) + 0.5;
      segment(context, left, y, right, y);
      context.fillText(this.labels[k], left - 6, y);
    });
    context.textAlign = "left";
    if (this.note) context.fillText(this.note, left, 7);
    this.drawTimes(context, top, bottom, width, height);
    context.save();
    context.beginPath();
    context.rect(left, 0, right - left, bottom + 2);
    context.clip();
    context.lineJoin = "round";
    context.lineWidth = 1.6;
    for (const curve of this.curves) this.drawCurve(context, curve, (v) => at(level(v)));
    context.restore();
  }

  // Round times and their labels, the last with the unit: as many as stand beside each other.
  timeTicks(context) {
    const { first, last } = this.clock;
    let found;
    for (let count = 6; count > 0; count--) {
      const ticks = steps(first, last, count);
      const { labels, note } = tickLabels(ticks);
      labels[labels.length - 1] += `${note ? ` ${note}` : ""} s`;
      found = { ticks, labels };
      const widths = labels.map((label) => context.measureText(label).width);
      const gap = ticks.length > 1 ? this.place(ticks[1]) - this.place(ticks[0]) : Infinity;
      if (widths.every((width, k) => !k || (width + widths[k - 1]) / 2 + 12 < gap)) break;
    }
    return found;
  }

  drawTimes(context, top, bottom, width, height) {
    context.textBaseline = "alphabetic";
    context.textAlign = "center";
    const { ticks, labels } = this.timeTicks(context);
    ticks.forEach((tick, k) => {
      const x = Math.round(this.place(tick)) + 0.5;
      segment(context, x, top, x, bottom);
      const label = labels[k];
      const half = context.measureText(label).width / 2 + 1;
      context.fillText(label, clamp(x, half, width - half), height - 6);
    });
  }

  drawCurve(context, { name, series, colour, dash }, at) {
    const y = series.values(name);
    context.strokeStyle = context.fillStyle = colour;
    context.setLineDash(dash);
    context.beginPath();
    let on = false;
    y.forEach((v, f) => {
      const good = Number.isFinite(v) && (!this.log || v > 0);
      if (good) context[on ? "lineTo" : "moveTo"](this.place(series.times[f]), at(v));
      if (good && y.length === 1) context.arc(this.place(series.times[f]), at(v), 3, 0, 7);
      on = good;
    });
    context.stroke();
    context.setLineDash([]);
  }
}

const FONT = "11px system-ui, sans-serif";
