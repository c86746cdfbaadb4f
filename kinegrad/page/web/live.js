// Sliders of the parameters: a change is simulated by the server that gave the page, and the page redraws itself.

class Live {
  constructor(panel, live, page) {
    this.page = page;
    this.values = Object.fromEntries(live.parameters.map(({ name, value }) => [name, value]));
    this.start = { ...this.values };
    this.motion = live.motion;
    panel.hidden = false;
    const head = make("div", { className: "plot-head" }, panel);
    make("h2", { textContent: "Design" }, head);
    this.status = make("span", { className: "note" }, head);
    this.status.setAttribute("role", "status");
    const tools = make("div", { className: "panel-tools" }, head);
    this.keeper = make("button", { type: "button", textContent: "Keep", title: "Keep this motion, paler, beside those that follow" }, tools);
    this.keeper.setAttribute("aria-pressed", "false");
    this.keeper.addEventListener("click", () => this.keep());
    const reset = make("button", { type: "button", textContent: "Reset", title: "All parameters as they were" }, tools);
    this.bar = make("progress", { max: 1, value: 0, hidden: true, ariaLabel: "Simulation" }, panel);
    this.sliders = live.parameters.map((parameter) => this.slider(panel, parameter));
    reset.addEventListener("click", () => {
      this.sliders.forEach(({ name, set }) => set(this.start[name]));
      this.simulate();
    });
  }

  slider(panel, { name, value, low, high }) {
    const row = make("label", { className: "design" }, panel);
    make("span", { textContent: name, title: name }, row);
    const input = make("input", { type: "range", ariaLabel: name, min: 0, max: FINENESS, value: (FINENESS * (value - low)) / (high - low) }, row);
    const number = make("output", { textContent: short(value, 4) }, row);
    const show = (x) => {
      this.values[name] = x;
      number.textContent = short(x, 4);
      input.style.setProperty("--done", `${input.value / (FINENESS / 100)}%`);
      input.setAttribute("aria-valuetext", short(x, 4));
    };
    input.addEventListener("input", () => {
      show(low + (input.value / FINENESS) * (high - low));
      this.simulate();
    });
    show(value);
    const set = (x) => {
      input.value = (FINENESS * (x - low)) / (high - low);
      show(x);
    };
    return { name, set };
  }

  // Keeps the motion that is shown, or lets go of what was kept.
  keep() {
    const kept = this.keeper.getAttribute("aria-pressed") !== "true";
    this.keeper.setAttribute("aria-pressed", kept);
    const changed = Object.entries(this.values).filter(([name, value]) => value !== this.start[name]);
    const words = changed.map(([name, value]) => `${name} = ${short(value, 4)}`).join(", ");
    this.page.keep(kept ? words || "before" : null);
  }

  // One simulation at a time; what changed meanwhile is simulated after it.
  async simulate() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    do {
      this.again = false;
      await this.ask();
    } while (this.again);
    this.busy = false;
  }

  async ask() {
    this.status.textContent = "simulating …";
    this.page.notices.clear();
    const late = setTimeout(() => (this.bar.hidden = false), 200);
    try {
      const answer = await fetch("simulate", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ values: this.values }),
      });
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += part.value;
        const rows = text.split("\n");
        text = rows.pop();
        for (const row of rows) this.read(JSON.parse(row));
      }
    } catch (error) {
      this.tell("the server does not answer; it may have been stopped.");
    }
    clearTimeout(late);
    this.bar.hidden = true;
  }

  // Signals of the motion that is shown, by name; nothing, and a sentence, where they cannot be had.
  async signals(names) {
    try {
      const answer = await fetch("signals", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ names, motion: this.motion }),
      });
      const row = await answer.json();
      if (row.error !== undefined) this.tell(row.error);
      return row.series;
    } catch (error) {
      this.tell("the server does not answer; it may have been stopped.");
    }
  }

  read(row) {
    if (row.progress !== undefined) this.bar.value = row.progress;
    if (row.error !== undefined) this.tell(row.error);
    if (row.scene) {
      this.status.textContent = row.seconds === undefined ? "" : `${short(row.seconds, 2)} s`;
      this.motion = row.scene.motion;
      this.page.replace(row.scene);
    }
  }

  // Over the view, where it moves nothing.
  tell(sentence) {
    this.status.textContent = "";
    this.page.notices.tell(sentence, true);
  }
}
