// A camera that orbits a target: mouse and touch turn, shift or two fingers move, wheel or pinch zoom.

const OPENING = 0.6; // half the height of the view, over its distance, is tan(OPENING / 2)

class Camera {
  constructor(scene) {
    this.up = unit(scene.up);
    [this.east, this.north] = across(this.up);
    const normal = scene.normal && Math.abs(dot(scene.normal, this.up)) < 0.1 ? unit(scene.normal) : null;
    if (normal) {
      // a mechanism in an upright plane is seen from its front
      this.north = unit(mul(-1, normal));
      this.east = cross(this.north, this.up);
    } else if (Math.abs(this.up[2]) > 0.9) {
      this.east = [0, 1, 0];
      this.north = cross(this.up, this.east);
    }
    this.flat = Boolean(normal);
    this.aspect = 1.5;
    this.take(scene);
    this.look("start");
  }

  // Another scene, into which it looks from the same side; fitted to it where it was fitted before.
  take(scene) {
    const pad = 3 * scene.radius;
    this.whole = boxCorners(scene.low.map((x) => x - pad), scene.high.map((x) => x + pad));
    this.corners = this.whole;
    this.size = norm(sub(scene.high, scene.low)) || 1;
    if (this.fitted) this.fit();
  }

  // Goes with a point from now on, fitted to a box around it; null lets it stand.
  follow(box, anchor) {
    const was = this.corners;
    this.anchor = anchor;
    this.corners = box ? boxCorners(...box.map((corner) => add(corner, anchor))) : this.whole;
    if (this.fitted || was !== this.corners) this.fit();
  }

  // The point that it goes with is there now.
  go(point) {
    const d = sub(point, this.anchor);
    if (!d.every(Number.isFinite)) return;
    this.anchor = point;
    this.target = add(this.target, d);
    this.corners = this.corners.map((corner) => add(corner, d));
  }

  look(from) {
    const turns = {
      start: this.flat ? [0.32, 0.2] : [0.62, 0.36],
      front: [0, 0], side: [Math.PI / 2, 0], top: [0, Math.PI / 2 - 1e-3],
    };
    [this.azimuth, this.elevation] = turns[from];
    this.fit();
  }

  // Unit vectors to the right, up and towards the viewer.
  get axes() {
    const [ca, sa] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const [ce, se] = [Math.cos(this.elevation), Math.sin(this.elevation)];
    const back = add(mul(ce, add(mul(-ca, this.north), mul(sa, this.east))), mul(se, this.up));
    const right = add(mul(ca, this.east), mul(sa, this.north));
    return { right, up: cross(back, right), back };
  }

  // Move target and distance so that everything that ever moves is in view.
  fit() {
    const { right, up, back } = this.axes;
    const tan = Math.tan(OPENING / 2);
    let centre = mul(1 / 8, this.corners.reduce(add));
    for (let pass = 0; pass < 3; pass++) {
      let distance = 0;
      const span = [[Infinity, -Infinity], [Infinity, -Infinity]];
      for (const corner of this.corners) {
        const d = sub(corner, centre);
        const depth = dot(d, back);
        distance = Math.max(distance, depth + Math.abs(dot(d, up)) / tan, depth + Math.abs(dot(d, right)) / (tan * this.aspect));
      }
      for (const corner of this.corners) {
        const d = sub(corner, centre);
        const scale = 1 / (distance - dot(d, back));
        [right, up].forEach((axis, i) => {
          span[i][0] = Math.min(span[i][0], dot(d, axis) * scale);
          span[i][1] = Math.max(span[i][1], dot(d, axis) * scale);
        });
      }
      centre = add(centre, add(mul(distance * (span[0][0] + span[0][1]) / 2, right), mul(distance * (span[1][0] + span[1][1]) / 2, up)));
      this.distance = distance * 1.1;
    }
    this.target = centre;
    this.fitted = true;
  }

  get eye() {
    return add(this.target, mul(this.distance, this.axes.back));
  }

  get matrix() {
    const { right, up, back } = this.axes;
    const eye = this.eye;
    const view = [
      right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
    ];
    const near = Math.max(this.distance - 4 * this.size, this.distance * 0.02);
    const far = this.distance + 6 * this.size;
    const f = 1 / Math.tan(OPENING / 2);
    const lens = [f / this.aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
    return product4(lens, view);
  }

  resize(width, height) {
    this.aspect = width / Math.max(1, height);
    if (this.fitted) this.fit();
  }

  turn(dx, dy) {
    this.azimuth -= dx;
    this.elevation = clamp(this.elevation + dy, -Math.PI / 2 + 1e-3, Math.PI / 2 - 1e-3);
  }

  // By fractions of the height of the view.
  shift(dx, dy) {
    const { right, up } = this.axes;
    const height = 2 * this.distance * Math.tan(OPENING / 2);
    this.target = add(this.target, add(mul(-dx * height, right), mul(dy * height, up)));
    this.fitted = false;
  }

  zoom(factor) {
    this.distance = clamp(this.distance * factor, this.size * 0.02, this.size * 20);
    this.fitted = false;
  }
}

const boxCorners = (low, high) => [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [0, 1, 2].map((i) => ((k >> i) & 1 ? high[i] : low[i])));

// Lets mouse, pen and fingers on `element` move the camera; calls `changed` after each move.
function steer(element, camera, changed) {
  const down = new Map();
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    down.set(event.pointerId, [event.clientX, event.clientY]);
  });
  const drop = (event) => down.delete(event.pointerId);
  element.addEventListener("pointerup", drop);
  element.addEventListener("pointercancel", drop);
  element.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    const [x, y] = down.get(event.pointerId);
    const height = element.clientHeight || 1;
    const [dx, dy] = [(event.clientX - x) / height, (event.clientY - y) / height];
    if (down.size === 1) {
      if (event.shiftKey || event.buttons > 1) camera.shift(dx, dy);
      else camera.turn(4 * dx, 4 * dy);
      down.set(event.pointerId, [event.clientX, event.clientY]);
    } else {
      const gap = () => {
        const [a, b] = [...down.values()];
        return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      };
      const before = gap();
      down.set(event.pointerId, [event.clientX, event.clientY]);
      camera.zoom(before / gap());
      camera.shift(dx / 2, dy / 2);
    }
    changed();
  });
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(Math.exp(clamp(event.deltaY, -200, 200) * 0.0015));
    changed();
  }, { passive: false });
  element.addEventListener("dblclick", () => {
    camera.fit();
    changed();
  });
  element.addEventListener("contextmenu", (event) => event.preventDefault());
}
