// Small ones for elements and canvases.

function make(tag, properties, parent) {
  const element = Object.assign(document.createElement(tag), properties);
  if (parent) parent.append(element);
  return element;
}

// The context of a canvas whose pixels are those of the screen, in units of the page.
function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function segment(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

// A colour or another text that the style sheet gives by name.
const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
