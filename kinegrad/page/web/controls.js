// Play and pause, slider, speed and keys.

const FINENESS = 1000; // steps of the slider

class Clock {
  // `changed(time)` is called whenever the time changes.
  constructor(times, changed) {
    Object.assign(this, { changed, speed: 1, playing: false });
    this.take([times]);
    this.time = this.first;
    this.tick = this.tick.bind(this);
  }

  // Runs over all these motions, by the frames of the first.
  take(all) {
    this.times = all[0];
    this.first = Math.min(...all.map((times) => times[0]));
    this.last = Math.max(...all.map((times) => times[times.length - 1]));
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
    const typing = ["INPUT", "SELECT", "BUTTON", "SUMMARY", "DIALOG"].includes(event.target.tagName) && event.target !== this.slider;
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
