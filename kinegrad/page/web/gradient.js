// The gradient as bars: for each objective its derivatives, as they are or relative (per cent of the objective for one per
// cent of the parameter), by parameters, by every number of the model, the most important first, or summed by element; and
// its certificate.

const MOST_BARS = 12;
const MOST_NUMBERS = 16;

class GradientBars {
  constructor(parent, gradient) {
    this.gradient = gradient;
    this.element = make("section", { className: "plot gradient" }, parent);
    const head = make("div", { className: "plot-head" }, this.element);
    make("h2", { textContent: "Gradient" }, head);
    make("span", { className: "note", textContent: gradient.method }, head);
    this.select = make("select", { ariaLabel: "Gradient: how derivatives are shown" }, head);
    make("option", { value: "relative", textContent: "% for 1 %" }, this.select);
    make("option", { value: "plain", textContent: "derivatives" }, this.select);
    this.select.addEventListener("change", () => this.draw());
    if (gradient.every) {
      this.by = make("select", { ariaLabel: "Gradient: by what" }, head);
      make("option", { value: "number", textContent: "by number" }, this.by);
      make("option", { value: "element", textContent: "by element, sums" }, this.by);
      if (gradient.parameters.length) make("option", { value: "parameter", textContent: "by parameter" }, this.by);
      this.by.addEventListener("change", () => this.draw());
    }
    this.body = make("div", {}, this.element);
    this.draw();
    if (gradient.certificate) this.certify(gradient.certificate);
  }

  // What was found for and against the gradient.
  certify({ good, useless, numbers, limits, problems }) {
    const box = make("section", { className: "certificate" }, this.element);
    box.setAttribute("aria-label", "Certificate of the gradient");
    const verdict = good ? "nothing found against it" : useless ? "useless to an optimiser" : "not right";
    const title = make("h3", { textContent: "Certificate: " }, box);
    make("span", { className: good ? "good" : "bad", textContent: verdict }, title);
    for (const sentence of problems) make("p", { textContent: sentence }, box);
    const table = make("table", {}, box);
    const head = make("tr", {}, table);
    for (const text of ["", "found", "allowed"]) make("th", { textContent: text }, head);
    for (const [name, found] of Object.entries(numbers)) {
      const row = make("tr", { className: found <= limits[name] ? "" : "bad" }, table);
      for (const text of [name, found.toExponential(1), limits[name].toExponential(0)]) make("td", { textContent: text }, row);
    }
  }

  // Rows [name, value] of an objective and how many there are, the largest bars when there are many.
  rows(o) {
    const { every } = this.gradient;
    const by = this.by ? this.by.value : "parameter";
    const relative = this.select.value === "relative";
    this.select.hidden = by === "element";
    if (by === "element") return [every.elements.map((name, k) => [name, every.sums[o][k]]), every.elements.length];
    if (by === "number") {
      const [matrix, sizes] = [relative ? every.relative : every.matrix, every.relative[o]];
      const order = sizes.map((_, k) => k).sort((a, b) => Math.abs(sizes[b]) - Math.abs(sizes[a]));
      return [order.slice(0, MOST_NUMBERS).map((k) => [every.paths[k], matrix[o][k]]), every.count];
    }
    const all = this.parameters(o, relative);
    if (all.length <= MOST_BARS) return [all, all.length];
    const largest = [...all].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, MOST_BARS);
    return [all.filter((row) => largest.includes(row)), all.length];
  }

  parameters(o, relative) {
    const { parameters, rho, values, matrix } = this.gradient;
    return parameters.map((name, k) => {
      const value = matrix[o][k];
      return [name, relative ? (values[o] ? (value * rho[k]) / values[o] : null) : value];
    });
  }

  draw() {
    this.body.replaceChildren();
    this.gradient.objectives.forEach((objective, o) => {
      const [rows, count] = this.rows(o);
      const most = Math.max(...rows.map(([, value]) => Math.abs(value) || 0)) || 1;
      const long = this.by && this.by.value !== "parameter";
      const table = make("div", { className: long ? "bars wide" : "bars" }, this.body);
      table.setAttribute("role", "table");
      table.setAttribute("aria-label", `Derivatives of ${objective}`);
      make("h3", { textContent: `${objective} = ${short(this.gradient.values[o], 6)}` }, table);
      for (const [name, value] of rows) {
        const row = make("div", { className: "bar-row" }, table);
        row.setAttribute("role", "row");
        const brief = long ? name.replace(/^(?!ground)[a-z_]+\./, "") : name;
        make("span", { className: "bar-name", textContent: brief, title: name }, row).setAttribute("role", "rowheader");
        const track = make("span", { className: "track" }, row);
        track.setAttribute("aria-hidden", "true");
        const bar = make("i", { className: value < 0 ? "bar minus" : "bar plus" }, track);
        bar.style.width = `${(50 * Math.abs(value || 0)) / most}%`;
        make("span", { className: "bar-value", textContent: short(value, 4) }, row).setAttribute("role", "cell");
      }
      const left = count - rows.length;
      if (left > 0) make("p", { className: "note", textContent: `and ${left} smaller ones` }, table);
    });
  }
}
