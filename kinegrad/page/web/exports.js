// Files from the page: a picture of the view or of a panel, and a table of the curves that are shown.

function download(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = (title, what, suffix) => `${[title, what].filter(Boolean).join(" ").replace(/[^\p{L}\p{N}]+/gu, "_").toLowerCase()}.${suffix}`;

// The view as it is now, with what is written over it.
function viewPicture(page) {
  page.draw(); // what WebGL drew is kept until the next frame of the screen only
  const { canvas } = page.view;
  const copy = make("canvas", { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d");
  context.drawImage(canvas, 0, 0);
  context.drawImage(page.labels.canvas, 0, 0, copy.width, copy.height);
  return copy;
}

// A panel as it is now: its title, and for each plot the names of its curves over the picture.
function panelPicture(panel) {
  const ratio = window.devicePixelRatio || 1;
  const [width, row] = [panel.element.clientWidth, 16];
  const heights = panel.plots.map((plot) => row * plot.curves.length + plot.field.clientHeight + 10);
  const copy = make("canvas");
  const context = sharp(copy, width, 34 + heights.reduce((a, b) => a + b, 0));
  context.fillStyle = styled("--card");
  context.fillRect(0, 0, width, copy.height / ratio);
  context.fillStyle = styled("--text");
  context.font = "600 13px system-ui, sans-serif";
  context.fillText(panel.heading, 12, 20);
  let y = 34;
  context.font = "11px system-ui, sans-serif";
  for (const plot of panel.plots) {
    for (const curve of plot.curves) {
      context.strokeStyle = curve.colour;
      context.lineWidth = 2;
      context.setLineDash(curve.dash);
      segment(context, 12, y + 5, 30, y + 5);
      context.fillText(`${curve.label}${curve.unit ? ` [${curve.unit}]` : ""}`, 36, y + 9);
      y += row;
    }
    context.setLineDash([]);
    context.drawImage(plot.canvas, 12, y, plot.field.clientWidth, plot.field.clientHeight);
    y += plot.field.clientHeight + 10;
  }
  return copy;
}

// Comma-separated: the times, then the curves of these panels, each once. Numbers have the digits of single precision.
function table(panels) {
  const curves = new Map();
  for (const panel of panels) for (const plot of panel.plots) for (const curve of plot.curves) curves.set(`${curve.motion}|${curve.name}`, curve);
  const list = [...curves.values()];
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const digits = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(8))) : "");
  const times = list.length ? list[0].series.times : [];
  const others = list.some((curve) => curve.series.times.length !== times.length || curve.series.times.some((t, k) => t !== times[k]));
  const rows = [["t [s]", ...list.map(({ name, unit, motion }) => `${name}${motion ? `, ${motion}` : ""}${unit ? ` [${unit}]` : ""}`)].map(quoted)];
  times.forEach((t, k) => rows.push([digits(t), ...list.map(({ name, series }) => digits(others ? series.at(name, t) : series.values(name)[k]))]));
  return `${rows.map((row) => row.join(",")).join("\n")}\n`;
}

const saveCsv = (panels, title, what) => download(new Blob([table(panels)], { type: "text/csv" }), fileName(title, what, "csv"));
const savePng = (canvas, title, what) => canvas.toBlob((blob) => download(blob, fileName(title, what, "png")), "image/png");
