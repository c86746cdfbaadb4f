// The view drawn on a plain canvas where WebGL is missing: flat triangles and lines, the farthest first.

class CanvasView {
  constructor(canvas, drawing) {
    this.kind = "canvas";
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.shapes = { box: boxSolid(), cylinder: cylinderSolid(10), cone: coneSolid(10), sphere: sphereSolid(8) };
    this.setMeshes(drawing.meshes);
  }

  setMeshes(meshes) {
    meshes.forEach((mesh, k) => (this.shapes[`mesh${k}`] = mesh));
  }

  draw({ solids, lines }, camera, theme, floor) {
    const { canvas, context } = this;
    const matrix = camera.matrix;
    const { right, back } = camera.axes;
    const light = unit(add(mul(0.9, floor.up), add(mul(0.55, back), mul(-0.35, right))));
    const pixels = canvas.width / Math.max(1, canvas.clientWidth);
    const screen = (p) => {
      const h = image4(matrix, p);
      return h[3] > 1e-4 ? [(h[0] / h[3] + 1) * canvas.width / 2, (1 - h[1] / h[3]) * canvas.height / 2, h[3]] : null;
    };
    const pieces = [];
    for (const [kind, list] of Object.entries(solids)) {
      const { points, corners } = this.shapes[kind];
      for (const [m, colour, opacity] of list) {
        const world = [];
        for (let k = 0; k < points.length; k += 3) world.push(place(m, [points[k], points[k + 1], points[k + 2]]));
        const seen = world.map(screen);
        for (let k = 0; k < corners.length; k += 3) {
          const [i, j, l] = [corners[k], corners[k + 1], corners[k + 2]];
          const [a, b, c] = [seen[i], seen[j], seen[l]];
          if (!a || !b || !c) continue;
          const turned = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
          if (turned >= 0 && !kind.startsWith("mesh")) continue;
          let n = unit(cross(sub(world[j], world[i]), sub(world[l], world[i])));
          if (dot(n, back) < 0) n = mul(-1, n);
          const tone = 0.36 + 0.22 * (0.5 + 0.5 * dot(n, floor.up)) + 0.55 * Math.max(0, dot(n, light));
          pieces.push([(a[2] + b[2] + c[2]) / 3, [a, b, c], css(mul(tone, colour), opacity), 0]);
        }
      }
    }
    for (let k = 0; k < lines.count; k++) {
      const d = lines.data.subarray(11 * k, 11 * k + 11);
      const [a, b] = [screen([d[0], d[1], d[2]]), screen([d[3], d[4], d[5]])];
      if (a && b) pieces.push([(a[2] + b[2]) / 2, [a, b], css([d[6], d[7], d[8]], d[9]), d[10] * pixels]);
    }
    pieces.sort((p, q) => q[0] - p[0]);
    context.fillStyle = css(theme.background, 1);
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.lineCap = context.lineJoin = "round";
    for (const [, corners, colour, width] of pieces) {
      context.beginPath();
      corners.forEach((p, k) => (k ? context.lineTo(p[0], p[1]) : context.moveTo(p[0], p[1])));
      context.strokeStyle = colour;
      context.lineWidth = width || 0.7;
      if (!width) {
        context.closePath();
        context.fillStyle = colour;
        context.fill();
      }
      context.stroke();
    }
  }
}

const css = (c, alpha) => `rgba(${c.map((x) => Math.round(255 * clamp(x, 0, 1))).join(",")},${alpha})`;

// The best view there is; `?view=canvas` or `#view=canvas` asks for the plain one.
function makeView(canvas, drawing, plain) {
  if (!plain) {
    try {
      return new WebGLView(canvas, drawing);
    } catch (error) {
      const fresh = canvas.cloneNode(true); // a canvas that has tried one kind of context may refuse another
      canvas.replaceWith(fresh);
      canvas = fresh;
    }
  }
  return new CanvasView(canvas, drawing);
}
