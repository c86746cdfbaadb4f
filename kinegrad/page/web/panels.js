// Panels beside the view: each shows some signals, a plot for each unit among them. Which ones is chosen by the reader and
// remembered.

class Panel {
  constructor(panels, { title, note, log, names, marker }) {
    Object.assign(this, { panels, title, note, log, names, marker });
    this.element = make("section", { className: "plot" }, panels.parent);
    this.fill();
  }

  get heading() {
    if (this.title) return this.title;
    const owners = new Set(this.names.map((name) => (this.panels.info(name) || {}).owner));
    return this.names.length === 1 ? this.names[0] : owners.size === 1 && [...owners][0] ? [...owners][0] : "Signals";
  }

  fill() {
    this.element.replaceChildren();
    const head = make("div", { className: "plot-head" }, this.element);
    make("h2", { textContent: this.marker ? this.marker : this.heading, title: this.heading }, head);
    if (this.note) make("span", { className: "note", textContent: this.note }, head);
    const tools = make("div", { className: "panel-tools" }, head);
    const button = (text, label, act) => {
      const made = make("button", { type: "button", textContent: text, title: label, ariaLabel: `${this.heading}: ${label}` }, tools);
      made.addEventListener("click", act);
    };
    button("Signals", "choose signals", () => this.panels.picker.open(this));
    const menu = make("details", { className: "panel-menu" }, tools);
    make("summary", { textContent: "⋯", title: "save", ariaLabel: `${this.heading}: save` }, menu);
    const inner = make("div", { className: "menu" }, menu);
    const title = () => this.panels.motions[0].series.drawing.scene.title;
    for (const [text, act] of [["Curves (CSV)", () => saveCsv([this], title(), this.heading)], ["Picture (PNG)", () => savePng(panelPicture(this), title(), this.heading)]])
      make("button", { type: "button", textContent: text }, inner).addEventListener("click", () => {
        menu.open = false;
        act();
      });
    button("×", "remove this panel", () => this.panels.remove(this));
    this.plots = [];
    const units = new Map();
    for (const name of this.names) {
      const one = this.panels.info(name);
      if (!one || !this.panels.main.has(name)) continue;
      const key = this.log ? "" : one.unit;
      units.set(key, [...(units.get(key) || []), name]);
    }
    let count = 0;
    for (const names of units.values()) {
      const curves = names.flatMap((name) => this.curves(name, CURVES[count++ % CURVES.length]));
      this.plots.push(new Plot(this.element, { curves, log: this.log, title: this.heading }, this.panels.clock, this.panels.setTime));
    }
    const lost = this.names.filter((name) => !this.panels.main.has(name));
    if (lost.length || !this.names.length)
      make("p", { className: "note", textContent: lost.length ? `Not in this page: ${lost.join(", ")}.` : "Nothing chosen yet." }, this.element);
  }

  // The curve of a signal in each motion.
  curves(name, colour) {
    return this.panels.motions.flatMap(({ label, series }, k) => {
      const one = series.known.get(name);
      if (!one) return [];
      const own = this.title && one.short ? one.short : this.marker && one.marker === this.marker ? AXES[one.axis] : name;
      return [{ name, motion: label, unit: one.unit, meaning: one.meaning, label: k ? `${own}, ${label}` : own, colour, dash: DASHES[k % DASHES.length], series, total: one.total }];
    });
  }

  // Other signals; a title that was given for the first ones goes.
  choose(names) {
    Object.assign(this, { names, title: undefined, note: undefined, marker: undefined, log: this.log && names.every((name) => name.startsWith("violation, ")) });
    this.fill();
  }
}

class Panels {
  // `motions` are [{label, series}], the first one leads; `ask(names)` fetches signals, where that is possible.
  constructor(parent, motions, scene, { clock, setTime, memory, ask }) {
    Object.assign(this, { parent, motions, clock, setTime, memory, ask, first: scene.panels, total: scene.signals });
    this.picker = new Picker(this);
    const kept = memory.get("panels");
    this.start(Array.isArray(kept) && kept.length ? kept : this.first);
    document.getElementById("add-panel").onclick = () => {
      const panel = this.add({ names: [] });
      panel.element.scrollIntoView({ block: "nearest" });
      this.picker.open(panel);
    };
    document.getElementById("reset-panels").onclick = () => {
      memory.set("panels", undefined);
      this.start(this.first);
    };
  }

  get main() {
    return this.motions[0].series;
  }

  info(name) {
    return this.main.info(name);
  }

  start(specs) {
    this.parent.replaceChildren();
    this.list = [];
    for (const spec of specs) this.add(spec);
    this.complete();
    this.redraw();
  }

  add(spec) {
    const panel = new Panel(this, spec);
    this.list.push(panel);
    return panel;
  }

  remove(panel) {
    panel.element.remove();
    this.list = this.list.filter((one) => one !== panel);
    this.remember();
    this.redraw();
  }

  choose(panel, names) {
    panel.choose(names);
    this.remember();
    this.complete();
    this.redraw();
  }

  // Shows where a point is, in the first panel that shows a point, or in a new one on top.
  showMarker(name) {
    let panel = this.list.find((one) => one.marker);
    if (!panel) {
      panel = this.add({ title: "Marker", names: [], marker: name });
      this.list.unshift(this.list.pop());
      this.parent.prepend(panel.element);
    }
    Object.assign(panel, { marker: name, names: AXES.map((axis) => `${name}.${axis}`) });
    panel.fill();
    this.remember();
    this.redraw();
  }

  remember() {
    this.memory.set("panels", this.list.map(({ title, note, log, names, marker }) => ({ title, note, log, names, marker })));
  }

  // Fetches what panels show and the page does not have, if somebody has it.
  async complete() {
    const lost = [...new Set(this.list.flatMap((panel) => panel.names))].filter((name) => !this.main.has(name) && this.main.offered.has(name));
    if (!lost.length || !this.ask) return;
    const rows = await this.ask(lost);
    if (!rows) return;
    this.main.add(rows);
    for (const panel of this.list) if (panel.names.some((name) => lost.includes(name))) panel.fill();
    this.redraw();
  }

  // Other motions in the same panels.
  replace(motions) {
    this.motions = motions;
    for (const panel of this.list) panel.fill();
    this.complete();
    this.redraw();
  }

  get plots() {
    return this.list.flatMap((panel) => panel.plots);
  }

  show(time) {
    this.time = time;
    for (const plot of this.plots) plot.show(time);
  }

  // Draws all with one left margin, so that times stand below each other.
  redraw() {
    const left = Math.max(LEAST_LEFT, ...this.plots.map((plot) => plot.measure()));
    for (const plot of this.plots) {
      plot.left = left;
      plot.draw();
      if (this.time !== undefined) plot.show(this.time);
    }
  }
}
