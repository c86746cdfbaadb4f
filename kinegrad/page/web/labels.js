// What is written over the view: the directions of x, y, z, names of bodies, the scale of arrows, and the point that was picked.

class Labels {
  constructor(canvas) {
    this.canvas = canvas;
  }

  // Place on the screen of a point in space, and its depth; null behind the eye.
  static project(camera, p, width, height) {
    const h = image4(camera.matrix, p);
    return h[3] > 1e-6 ? [((h[0] / h[3] + 1) * width) / 2, ((1 - h[1] / h[3]) * height) / 2, h[3]] : null;
  }

  draw(page) {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const context = sharp(this.canvas, width, height);
    const { camera, drawing, shown } = page;
    context.textBaseline = "middle";
    context.lineCap = "round";
    this.triad(context, camera, height);
    context.fillStyle = styled("--text");
    context.strokeStyle = styled("--view");
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "left";
    const write = (text, at) => {
      context.lineWidth = 3;
      context.strokeText(text, at[0] + 8, at[1] - 10);
      context.fillText(text, at[0] + 8, at[1] - 10);
    };
    if (shown.names)
      drawing.bodies.forEach((body, k) => {
        const at = k && body.opacity ? Labels.project(camera, place(drawing.current[k], body.com), width, height) : null;
        if (at) write(body.name, at);
      });
    const picked = page.picked && Labels.project(camera, drawing.at(page.picked), width, height);
    if (picked) {
      write(page.picked.name, picked);
      context.strokeStyle = styled("--accent");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(picked[0], picked[1], 7, 0, 7);
      context.stroke();
    }
    this.scales(context, page, height);
  }

  triad(context, camera, height) {
    const { right, up } = camera.axes;
    const centre = [40, height - 40];
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.lineWidth = 2;
    ["#d9534f", "#3f9d4f", "#4a78e0"].forEach((colour, k) => {
      const d = [right[k], -up[k]];
      context.strokeStyle = context.fillStyle = colour;
      segment(context, centre[0], centre[1], centre[0] + 20 * d[0], centre[1] + 20 * d[1]);
      if (Math.hypot(...d) > 0.3) context.fillText("xyz"[k], centre[0] + 29 * d[0], centre[1] + 29 * d[1]);
    });
  }

  // A bar for a round number of each unit among the arrows, as long as an arrow of it across the view, where the camera looks.
  scales(context, { camera, drawing, shown }, height) {
    const pixels = height / (2 * camera.distance * Math.tan(OPENING / 2));
    context.textAlign = "left";
    context.font = "11px system-ui, sans-serif";
    Object.entries(drawing.arrows.scales(shown)).forEach(([unit, metres], k) => {
      const value = niceStep(60 / (metres * pixels), 1);
      const length = value * metres * pixels;
      const y = height - 16 - 16 * k;
      const kinds = Object.values(KINDS).filter((kind) => kind.unit === unit && shown[kind.shown]);
      context.strokeStyle = css(kinds[0].colour, 1);
      context.fillStyle = styled("--quiet");
      context.lineWidth = 2.5;
      segment(context, 84, y, 84 + length, y);
      context.fillText(`${short(value)} ${unit}`, 92 + length, y);
    });
  }
}
