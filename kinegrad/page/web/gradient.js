// The gradient as bars: for each objective its derivatives, as they are or relative (per cent of the objective for one per
// cent of the parameter).

const MOST_BARS = 12;

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
    this.body = make("div", {}, this.element);
    this.draw();
  }

  // Rows [parameter, value] of an objective, the largest bars when there are many.
  rows(o) {
    const { parameters, rho, values, matrix } = this.gradient;
    const relative = this.select.value === "relative";
    const all = parameters.map((name, k) => {
      const value = matrix[o][k];
      return [name, relative ? (values[o] ? (value * rho[k]) / values[o] : null) : value];
    });
    if (all.length <= MOST_BARS) return all;
    const largest = [...all].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, MOST_BARS);
    return all.filter((row) => largest.includes(row));
  }

  draw() {
    this.body.replaceChildren();
    this.gradient.objectives.forEach((objective, o) => {
      const rows = this.rows(o);
      const most = Math.max(...rows.map(([, value]) => Math.abs(value) || 0)) || 1;
      const table = make("div", { className: "bars" }, this.body);
      table.setAttribute("role", "table");
      table.setAttribute("aria-label", `Derivatives of ${objective}`);
      make("h3", { textContent: `${objective} = ${short(this.gradient.values[o], 6)}` }, table);
      for (const [name, value] of rows) {
        const row = make("div", { className: "bar-row" }, table);
        row.setAttribute("role", "row");
        make("span", { className: "bar-name", textContent: name, title: name }, row).setAttribute("role", "rowheader");
        const track = make("span", { className: "track" }, row);
        track.setAttribute("aria-hidden", "true");
        const bar = make("i", { className: value < 0 ? "bar minus" : "bar plus" }, track);
        bar.style.width = `${(50 * Math.abs(value || 0)) / most}%`;
        make("span", { className: "bar-value", textContent: short(value, 4) }, row).setAttribute("role", "cell");
      }
      const left = this.gradient.parameters.length - rows.length;
      if (left > 0) make("p", { className: "note", textContent: `and ${left} smaller ones` }, table);
    });
  }
}
