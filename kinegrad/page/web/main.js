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

const PALE = 0.3; // opacity of motions beside the first

class Page {
  constructor(scene) {
    const hash = new URLSearchParams(location.hash.slice(1));
    this.memory = new Memory(scene);
    this.shown = { ...SHOWN, centres: scene.bodies.length <= MANY, ...this.memory.get("shown") };
    for (const key of Object.keys(SHOWN)) if (hash.has(key)) this.shown[key] = hash.get(key) !== "0";
    this.drawing = new Drawing(scene);
    this.others = (scene.beside || []).map((other) => this.beside(other.label, other));
    this.camera = new Camera(this.around());
    this.notices = new Notices(document.getElementById("told"));
    const plain = hash.get("view") === "canvas";
    this.view = makeView(document.getElementById("view"), this.drawing, plain);
    if (this.view.kind === "canvas" && !plain) this.notices.tell(NO_WEBGL);
    this.meshes();
    this.labels = new Labels(document.getElementById("labels"));
    this.clock = new Clock(this.drawing.times, (time) => this.show(time));
    this.clock.take(this.all.map((one) => one.times));
    this.controls = new Controls(this.clock);
    const setTime = (time) => {
      this.clock.play(false);
      this.clock.set(time);
    };
    if (scene.live) this.live = new Live(document.getElementById("live"), scene.live, this);
    const ask = scene.live ? (names) => this.live.signals(names) : null;
    const { clock, memory } = this;
    this.plots = new Panels(document.getElementById("plots"), this.motions(), scene, { clock, setTime, memory, ask });
    if (scene.report) new StudyReport(document.getElementById("report"), scene.report);
    if (scene.gradient) new GradientBars(document.getElementById("gradient"), scene.gradient);
    this.pick = new Pick(this);
    new Topology(document.getElementById("topology"), this);
    this.theme = themeNow();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.theme = themeNow();
      this.plots.redraw();
      this.later();
    });
    steer(this.labels.canvas, this.camera, () => this.later());
    document.getElementById("save-png").onclick = () => savePng(viewPicture(this), this.drawing.scene.title, `${short(this.clock.time, 4)} s`);
    document.getElementById("save-csv").onclick = () => saveCsv(this.plots.list, this.drawing.scene.title);
    this.words(scene);
    new ResizeObserver(() => this.resize()).observe(this.labels.canvas);
    new ResizeObserver(() => this.plots.redraw()).observe(document.getElementById("plots"));
    this.resize();
    this.follow(scene.follow || 0);
    this.clock.set(hash.has("t") ? Number(hash.get("t")) : this.clock.first);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!hash.has("t") && hash.get("play") !== "0" && !still && this.clock.last > this.clock.first) this.clock.play(true);
  }

  words(scene) {
    document.getElementById("title").textContent = scene.title;
    const facts = document.getElementById("facts");
    const others = this.others.map(({ label }) => `beside it, paler: ${label}`);
    facts.replaceChildren(...[...scene.facts, ...others].map((fact) => make("span", { textContent: fact })));
    const text = `${scene.title}, animated: ${scene.bodies.length - 1} bodies, ${scene.joints.length} joints, ${scene.springs.length} springs`;
    this.labels.canvas.setAttribute("aria-label", text);
  }

  // --- motions ---

  // Another motion that is drawn paler, at the same times.
  beside(label, scene) {
    const drawing = new Drawing(scene);
    drawing.opacity = PALE;
    return { label, drawing };
  }

  get all() {
    return [this.drawing, ...this.others.map(({ drawing }) => drawing)];
  }

  // The motions that are shown together, with their curves.
  motions() {
    return [{ label: "", drawing: this.drawing }, ...this.others].map(({ label, drawing }) => ({ label, series: new Series(drawing) }));
  }

  // The scene that leads, in the box around all.
  around() {
    const scenes = this.all.map((drawing) => drawing.scene);
    const bound = (key, most) => [0, 1, 2].map((i) => most(...scenes.map((scene) => scene[key][i])));
    return { ...scenes[0], low: bound("low", Math.min), high: bound("high", Math.max) };
  }

  // Numbers the meshes of all motions, and gives them to the view.
  meshes() {
    const meshes = [];
    for (const drawing of this.all) drawing.numberMeshes(meshes);
    this.view.setMeshes(meshes);
  }

  // Another motion of the same model, after its parameters have changed; what the reader chose stays.
  replace(scene) {
    const before = this.drawing;
    this.drawing = new Drawing(scene);
    this.drawing.traced = before.traced;
    this.drawing.bodies.forEach((body, k) => (body.opacity = before.bodies[k].opacity));
    this.refresh();
  }

  // Keeps the motion of now beside those that come, in the place of what was kept before; null keeps nothing.
  keep(label) {
    this.others = label === null ? [] : [this.beside(label, this.drawing.scene)];
    this.refresh();
  }

  refresh() {
    this.meshes();
    this.clock.take(this.all.map((one) => one.times));
    this.camera.take(this.around());
    this.plots.replace(this.motions());
    if (this.picked) this.picked = this.drawing.marker(this.picked.name);
    this.words(this.drawing.scene);
    this.follow(this.followed);
    this.clock.set(this.clock.time);
  }

  // Lets the camera go with a body; 0 for none.
  follow(body) {
    this.followed = body;
    const box = body ? this.drawing.boxAround(body) : null;
    this.camera.follow(box, body ? this.drawing.centre(body) : null);
    for (const drawing of this.all) drawing.reach = box ? norm(sub(box[1], box[0])) / 1.5 : drawing.size;
    this.menu();
    this.later();
  }

  menu() {
    fillMenu(this);
  }

  // --- drawing ---

  show(time) {
    for (const drawing of this.all) drawing.goTo(time);
    if (this.followed) this.camera.go(this.drawing.centre(this.followed));
    this.controls.show(time);
    this.plots.show(time);
    this.pick.show();
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
    const [width, height] = [this.labels.canvas.clientWidth, this.labels.canvas.clientHeight];
    this.view.canvas.width = Math.max(1, Math.round(width * ratio));
    this.view.canvas.height = Math.max(1, Math.round(height * ratio));
    this.camera.resize(width, height);
    this.later();
  }

  draw() {
    let lists;
    for (const drawing of this.all) lists = drawing.lists(this.shown, this.theme, lists);
    this.view.draw(lists, this.camera, this.theme, this.drawing.floor, this.shown.grid);
    this.labels.draw(this);
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
  table: () => table(page.plots.list),
};
