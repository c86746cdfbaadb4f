// The page: reads the scene, makes the view, and keeps view, plots and controls at one time.

function themeNow() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => rgb(style.getPropertyValue(name).trim());
  return {
    background: colour("--view"), grid: colour("--grid"), ground: colour("--ground"), joint: colour("--joint"),
    centre: colour("--centre"), spring: colour("--spring"), pulled: colour("--pulled"), pressed: colour("--pressed"),
    shadow: [0, 0, 0, Number(style.getPropertyValue("--shadow"))],
  };
}

class Page {
  constructor(scene) {
    const hash = new URLSearchParams(location.hash.slice(1));
    this.shown = { ...SHOWN, centres: scene.bodies.length <= MANY };
    for (const key of Object.keys(SHOWN)) if (hash.has(key)) this.shown[key] = hash.get(key) !== "0";
    this.drawing = new Drawing(scene);
    this.camera = new Camera(scene);
    this.view = makeView(document.getElementById("view"), this.drawing, hash.get("view") === "canvas");
    this.labels = document.getElementById("labels");
    this.clock = new Clock(this.drawing.times, (time) => this.show(time));
    this.controls = new Controls(this.clock);
    const go = (time) => {
      this.clock.play(false);
      this.clock.set(time);
    };
    if (scene.live) this.live = new Live(document.getElementById("live"), scene.live, (fresh) => this.replace(fresh));
    this.memory = new Memory(scene);
    const ask = scene.live ? (names) => this.live.signals(names) : null;
    this.plots = new Panels(document.getElementById("plots"), this.motions(), scene, { clock: this.clock, setTime: go, memory: this.memory, ask });
    if (scene.gradient) new GradientBars(document.getElementById("gradient"), scene.gradient);
    this.theme = themeNow();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.theme = themeNow();
      this.plots.redraw();
      this.later();
    });
    steer(this.labels, this.camera, () => this.later());
    fillMenu(this.drawing, this.shown, this.camera, () => this.later());
    this.words(scene);
    new ResizeObserver(() => this.resize()).observe(this.labels);
    new ResizeObserver(() => this.plots.redraw()).observe(document.getElementById("plots"));
    this.resize();
    this.clock.set(hash.has("t") ? Number(hash.get("t")) : this.clock.first);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!hash.has("t") && hash.get("play") !== "0" && !still) this.clock.play(true);
  }

  words(scene) {
    document.getElementById("title").textContent = scene.title;
    const facts = document.getElementById("facts");
    facts.replaceChildren(...scene.facts.map((fact) => make("span", { textContent: fact })));
    this.labels.setAttribute("aria-label", `${scene.title}, animated: ${scene.bodies.length - 1} bodies, ${scene.joints.length} joints, ${scene.springs.length} springs`);
  }

  // The motions that are shown together, with their curves.
  motions() {
    return [{ label: "", series: new Series(this.drawing) }];
  }

  // Another motion of the same model, after its parameters have changed.
  replace(scene) {
    const traced = this.drawing.traced;
    const old = this.camera;
    this.drawing = new Drawing(scene);
    this.drawing.traced = traced;
    const fresh = new Camera(scene);
    Object.assign(old, { corners: fresh.corners, size: fresh.size });
    this.view.setMeshes(this.drawing.meshes);
    this.clock.times = this.drawing.times;
    this.plots.replace(this.motions());
    fillMenu(this.drawing, this.shown, this.camera, () => this.later());
    this.words(scene);
    this.clock.set(this.clock.time);
  }

  show(time) {
    this.drawing.goTo(time);
    this.controls.show(time);
    this.plots.show(time);
    this.later();
  }

  // Draws once, before the next frame of the screen.
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.labels.clientWidth, this.labels.clientHeight];
    this.view.canvas.width = Math.max(1, Math.round(width * ratio));
    this.view.canvas.height = Math.max(1, Math.round(height * ratio));
    this.camera.resize(width, height);
    this.later();
  }

  draw() {
    const lists = this.drawing.lists(this.shown, this.theme);
    this.view.draw(lists, this.camera, this.theme, this.drawing.floor, this.shown.grid);
    this.drawLabels();
  }

  // The directions of x, y, z in the corner, and names of bodies.
  drawLabels() {
    const [width, height] = [this.labels.clientWidth, this.labels.clientHeight];
    const context = sharp(this.labels, width, height);
    const style = getComputedStyle(document.documentElement);
    const { right, up } = this.camera.axes;
    const centre = [40, height - 40];
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 2;
    context.lineCap = "round";
    ["#d9534f", "#3f9d4f", "#4a78e0"].forEach((colour, k) => {
      const d = [right[k], -up[k]];
      context.strokeStyle = context.fillStyle = colour;
      segment(context, centre[0], centre[1], centre[0] + 20 * d[0], centre[1] + 20 * d[1]);
      if (Math.hypot(...d) > 0.3) context.fillText("xyz"[k], centre[0] + 29 * d[0], centre[1] + 29 * d[1]);
    });
    if (!this.shown.names) return;
    const matrix = this.camera.matrix;
    context.fillStyle = style.getPropertyValue("--text");
    context.strokeStyle = style.getPropertyValue("--view");
    context.lineWidth = 3;
    context.textAlign = "left";
    this.drawing.bodies.slice(1).forEach((body, k) => {
      const h = image4(matrix, place(this.drawing.current[k + 1], body.com));
      const at = [(h[0] / h[3] + 1) * width / 2 + 8, (1 - h[1] / h[3]) * height / 2 - 10];
      context.strokeText(body.name, ...at);
      context.fillText(body.name, ...at);
    });
  }
}

const page = new Page(JSON.parse(document.getElementById("scene").textContent));

// For programs that drive the page, such as tests.
window.kinegrad = {
  page,
  get time() { return page.clock.time; },
  get renderer() { return page.view.kind; },
  setTime(time) { page.clock.play(false); page.clock.set(time); },
  point(name) { return page.drawing.at(page.drawing.marker(name)); },
  tickLabels,
};
