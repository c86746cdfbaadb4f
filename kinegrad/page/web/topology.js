// The topology as a picture: bodies by their distance from the ground, joints of the tree, cut joints dashed; a click on a body
// lets the camera follow it.

const LINES = {
  tree: ["--text", ""], added: ["--ground", "2 4"], cut: ["--wrong", "6 4"], row: ["--pressed", "8 3 2 3"], spring: ["--pulled", "2 3"],
};
const TOLD = { tree: "joint of the tree", added: "added: floats freely", cut: "cut joint", row: "constraint", spring: "spring, bushing" };
const [ACROSS, DOWN] = [92, 64];

function drawn(tag, attributes, parent) {
  const element = document.createElementNS(document.querySelector("svg").namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (parent) parent.append(element);
  return element;
}

class Topology {
  constructor(parent, page) {
    const { topology } = page.drawing.scene;
    parent.hidden = !topology;
    if (!topology) return;
    this.page = page;
    this.places = new Map(topology.bodies.map(([name, x, depth]) => [name, [ACROSS * (x + 0.5), DOWN * depth + 22]]));
    const [width, height] = [ACROSS * (1 + Math.max(...topology.bodies.map((b) => b[1]))), DOWN * Math.max(...topology.bodies.map((b) => b[2])) + 44];
    const place = parent.querySelector("div");
    place.replaceChildren();
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" }, place);
    svg.setAttribute("aria-label", `Topology: ${topology.lines.map(([name, type, kind, a, b]) => `${name} (${type}, ${TOLD[kind]}) between ${a} and ${b}`).join("; ")}`);
    this.counts = new Map();
    for (const line of topology.lines) this.line(svg, line);
    topology.bodies.forEach(([name]) => this.body(svg, name));
    const legend = make("div", { className: "legend" }, place);
    for (const kind of Object.keys(TOLD).filter((kind) => topology.lines.some((line) => line[2] === kind))) {
      const entry = make("span", { className: "entry" }, legend);
      const swatch = drawn("svg", { width: 26, height: 8, "aria-hidden": "true" }, entry);
      drawn("line", { x1: 0, x2: 26, y1: 4, y2: 4, style: `stroke: var(${LINES[kind][0]})`, "stroke-width": 1.8, "stroke-dasharray": LINES[kind][1] }, swatch);
      make("span", { textContent: TOLD[kind] }, entry);
    }
  }

  // A curve with the name of the joint; those between the same bodies are bent apart, those that close loops too.
  line(svg, [name, type, kind, a, b]) {
    if (a === b || !this.places.has(a) || !this.places.has(b)) return;
    const key = [a, b].sort().join(" ");
    const number = this.counts.get(key) || 0;
    this.counts.set(key, number + 1);
    const plain = kind === "tree" || kind === "added";
    const bend = (-1) ** number * ((plain ? 0 : 0.25) + 0.25 * (number >> 1));
    const [p, q] = [this.places.get(a), this.places.get(b)];
    const middle = [(p[0] + q[0]) / 2 + bend * (q[1] - p[1]), (p[1] + q[1]) / 2 - bend * (q[0] - p[0])];
    const curve = drawn("path", {
      d: `M${p} Q${middle} ${q}`, fill: "none", style: `stroke: var(${LINES[kind][0]})`, "stroke-width": 1.8, "stroke-dasharray": LINES[kind][1],
    }, svg);
    drawn("title", {}, curve).textContent = `${name}: ${type}, ${TOLD[kind]}`;
    const part = plain ? 0.62 : 0.5; // names of the tree stand nearer to the child, where lines are farther apart
    const at = [0, 1].map((i) => (1 - part) ** 2 * p[i] + 2 * part * (1 - part) * middle[i] + part ** 2 * q[i]);
    drawn("text", { x: at[0], y: at[1] + 3, "text-anchor": "middle", class: "joint-name" }, svg).textContent = name;
  }

  body(svg, name) {
    const [x, y] = this.places.get(name);
    const number = this.page.drawing.bodies.findIndex((body) => body.name === name);
    const group = drawn("g", { class: "body-node" }, svg);
    drawn("title", {}, group).textContent = number > 0 ? `${name}: click to follow it` : name;
    const colour = number > 0 ? css(bodyColour(number - 1, this.page.drawing.moving), 1) : "var(--ground)";
    drawn("rect", { x: x - 40, y: y - 11, width: 80, height: 22, rx: 6, style: `stroke: ${colour}` }, group);
    const text = name.length > 12 ? `${name.slice(0, 11)}…` : name;
    drawn("text", { x, y: y + 4, "text-anchor": "middle" }, group).textContent = text;
    if (number > 0) group.addEventListener("click", () => this.page.follow(this.page.followed === number ? 0 : number));
  }
}
