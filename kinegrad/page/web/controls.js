// Play and pause, slider, speed, keys, and the menu of what is shown.

const FINENESS = 1000; // steps of the slider

class Clock {
  // `changed(time)` is called whenever the time changes.
  constructor(times, changed) {
    Object.assign(this, { times, changed, time: times[0], speed: 1, playing: false });
    this.tick = this.tick.bind(this);
  }

  get first() {
    return this.times[0];
  }

  get last() {
    return this.times[this.times.length - 1];
  }

  set(time) {
    this.time = clamp(time, this.first, this.last);
    this.changed(this.time);
  }

  play(on) {
    if (on && !this.playing) {
      this.before = undefined;
      requestAnimationFrame(this.tick);
    }
    this.playing = on;
    this.changed(this.time);
  }

  tick(now) {
    if (!this.playing) return;
    const passed = this.before === undefined ? 0 : Math.min(now - this.before, 100) / 1000;
    this.before = now;
    let time = this.time + passed * this.speed;
    if (time > this.last) time = this.first + ((time - this.first) % (this.last - this.first || 1));
    this.set(time);
    requestAnimationFrame(this.tick);
  }

  step(frames) {
    this.play(false);
    const f = indexBefore(this.times, this.time + 1e-9) + frames;
    this.set(this.times[clamp(f, 0, this.times.length - 1)]);
  }
}

class Controls {
  constructor(clock) {
    this.clock = clock;
    this.button = document.getElementById("play");
    this.slider = document.getElementById("time");
    this.output = document.getElementById("now");
    this.speed = document.getElementById("speed");
    this.button.addEventListener("click", () => clock.play(!clock.playing));
    this.slider.max = FINENESS;
    this.slider.addEventListener("input", () => {
      const time = clock.first + (this.slider.value / FINENESS) * (clock.last - clock.first);
      clock.play(false); // shows the time as it was, also on the slider
      clock.set(time);
    });
    this.speed.addEventListener("change", () => (clock.speed = Number(this.speed.value)));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const typing = ["INPUT", "SELECT", "BUTTON", "SUMMARY"].includes(event.target.tagName) && event.target !== this.slider;
    if (event.ctrlKey || event.altKey || event.metaKey || typing) return;
    const far = event.shiftKey ? 10 : 1;
    const actions = {
      " ": () => this.clock.play(!this.clock.playing),
      ArrowRight: () => this.clock.step(far),
      ArrowLeft: () => this.clock.step(-far),
      Home: () => this.clock.set(this.clock.first),
      End: () => this.clock.set(this.clock.last),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  show(time) {
    const { clock } = this;
    const digits = clamp(3 - Math.floor(Math.log10(clock.last - clock.first || 1)), 2, 6);
    this.output.textContent = `${time.toFixed(digits)} s`;
    this.slider.value = FINENESS * ((time - clock.first) / (clock.last - clock.first || 1));
    this.slider.style.setProperty("--done", `${this.slider.value / (FINENESS / 100)}%`);
    this.slider.setAttribute("aria-valuetext", `${time.toFixed(digits)} seconds`);
    this.button.dataset.playing = clock.playing;
    this.button.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
  }
}

// The menu: what is shown, which paths, and where the camera stands.
function fillMenu(drawing, shown, camera, changed) {
  const words = { grid: "Grid", joints: "Joints", centres: "Centres of mass", traces: "Paths", frames: "Frames", names: "Names" };
  const boxes = document.getElementById("shown");
  boxes.replaceChildren();
  for (const [key, word] of Object.entries(words)) {
    const label = make("label", {}, boxes);
    const box = make("input", { type: "checkbox", checked: shown[key], name: key }, label);
    label.append(word);
    box.addEventListener("change", () => {
      shown[key] = box.checked;
      changed();
    });
  }
  const paths = document.getElementById("paths");
  paths.replaceChildren();
  for (const marker of drawing.scene.markers.filter((m) => m.body > 0)) {
    const label = make("label", {}, paths);
    const box = make("input", { type: "checkbox", checked: drawing.traced.has(marker.name) }, label);
    label.append(marker.name);
    box.addEventListener("change", () => {
      drawing.traced[box.checked ? "add" : "delete"](marker.name);
      changed();
    });
  }
  for (const button of document.querySelectorAll("[data-look]"))
    button.onclick = () => {
      camera.look(button.dataset.look);
      changed();
    };
}
