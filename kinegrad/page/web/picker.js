// The list of signals to choose from, with a search; a check changes the panel at once.

const MOST_LISTED = 250;
const GROUPS = {
  measure: "Measures", objective: "Objectives", force: "Forces", driver: "Drivers", joint: "Joints", constraint: "Constraints",
  body: "Bodies", marker: "Markers", system: "Mechanism", own: "Of the solution",
};

class Picker {
  constructor(panels) {
    this.panels = panels;
    this.dialog = document.getElementById("picker");
    this.search = document.getElementById("picker-search");
    this.rows = document.getElementById("picker-list");
    this.note = document.getElementById("picker-note");
    this.search.oninput = () => this.list();
    document.getElementById("picker-done").onclick = () => this.dialog.close();
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
  }

  open(panel) {
    this.panel = panel;
    this.search.value = "";
    this.list();
    this.dialog.showModal();
    this.search.focus();
  }

  // All words have to stand in the name, group or meaning.
  matching() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.panels.main.list().filter((one) => {
      const text = `${one.name} ${GROUPS[one.group]} ${one.meaning}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  list() {
    const found = this.matching();
    const chosen = this.panel.names;
    const order = Object.keys(GROUPS);
    const rank = (one) => order.indexOf(one.group) - (chosen.includes(one.name) ? 100 : 0);
    found.sort((a, b) => rank(a) - rank(b));
    this.rows.replaceChildren();
    let group = null;
    for (const one of found.slice(0, MOST_LISTED)) {
      const heading = chosen.includes(one.name) ? "Shown" : GROUPS[one.group];
      if (heading !== group) make("h3", { textContent: heading }, this.rows);
      group = heading;
      const label = make("label", { title: one.meaning }, this.rows);
      const box = make("input", { type: "checkbox", checked: chosen.includes(one.name), value: one.name }, label);
      make("span", { textContent: one.name }, label);
      make("small", { textContent: one.unit }, label);
      box.addEventListener("change", () => this.choose(one.name, box.checked));
    }
    const here = this.panels.main.list().length;
    const more = found.length > MOST_LISTED ? `The first ${MOST_LISTED} of ${found.length}; type to see others. ` : "";
    const rest = this.panels.main.offered.size ? "" : `The model has ${this.panels.total} signals, ${here} curves are in this file; kinegrad view, or signals="all", gives the others.`;
    this.note.textContent = found.length ? more + rest : `Nothing is called so. ${rest}`;
  }

  choose(name, on) {
    const names = this.panel.names.filter((one) => one !== name);
    this.panels.choose(this.panel, on ? [...names, name] : names);
  }
}
