// Points picked by a click in the view: what the point is called, where it is and how fast; its path, and a camera that follows.

const NEAR = 18; // pixels from the mouse within which a point is meant
const STILL = 4; // pixels that the mouse may move between down and up

class Pick {
  constructor(page) {
    this.page = page;
    this.card = document.getElementById("picked");
    const element = page.labels.canvas;
    let down = null;
    element.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
    element.addEventListener("pointerup", (event) => {
      if (down && event.button === 0 && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < STILL) this.click(event);
      down = null;
    });
  }

  // Points near the mouse, the nearest first; of those at one place the next one after each click.
  click(event) {
    const { page } = this;
    const box = page.labels.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = [];
    for (const point of this.points()) {
      const at = Labels.project(page.camera, page.drawing.at(point), box.width, box.height);
      const gap = at ? Math.hypot(at[0] - x, at[1] - y) : Infinity;
      if (gap < NEAR) found.push([Math.round(gap), at[2], point]);
    }
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const here = found.filter((one) => one[0] <= found[0][0] + 2).map((one) => one[2]);
    const before = here.findIndex((point) => page.picked && point.name === page.picked.name);
    this.choose(here.length ? here[(before + 1) % here.length] : null);
  }

  points() {
    const { bodies, scene } = this.page.drawing;
    return scene.markers.filter((marker) => bodies[marker.body].opacity > 0);
  }

  choose(point) {
    const { page, card } = this;
    page.picked = point;
    card.hidden = !point;
    card.replaceChildren();
    if (point) {
      make("b", { textContent: point.name }, card);
      this.text = make("span", {}, card);
      const button = (text, label, act) => make("button", { type: "button", textContent: text, title: label, ariaLabel: label }, card).addEventListener("click", act);
      if (point.body) {
        button("Path", `show or hide the path of ${point.name}`, () => {
          page.drawing.traced[page.drawing.traced.has(point.name) ? "delete" : "add"](point.name);
          page.menu();
          page.later();
        });
        button("Follow", `let the camera follow ${page.drawing.bodies[point.body].name}`, () => page.follow(page.followed === point.body ? 0 : point.body));
        page.plots.showMarker(point.name);
      }
      button("×", "close", () => this.choose(null));
      this.show();
    }
    page.later();
  }

  // The numbers at the time of the drawing.
  show() {
    const { picked, drawing } = this.page;
    if (!picked) return;
    const at = drawing.at(picked).map((x) => short(x, 4)).join(", ");
    this.text.textContent = `[${at}] m, ${short(norm(drawing.velocity(picked)), 3)} m/s`;
  }
}
