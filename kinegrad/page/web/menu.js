// The menu: what is shown, bodies with their opacity, which paths, and where the camera stands.

const WORDS = { grid: "Grid", joints: "Joints", centres: "Centres of mass", traces: "Paths", frames: "Frames", names: "Names" };
const ARROWS = { velocities: "Velocities", forces: "Forces", reactions: "Reactions", moments: "Moments", weights: "Weights" };

function fillMenu(page) {
  const { drawing, shown } = page;
  for (const [place, words] of [["shown", WORDS], ["arrows", ARROWS]]) {
    const parent = document.getElementById(place);
    parent.replaceChildren();
    for (const [key, word] of Object.entries(words))
      checkbox(parent, word, shown[key], (on) => {
        shown[key] = on;
        page.memory.set("shown", shown);
        page.later();
      }).name = key;
  }
  const length = document.getElementById("arrow-length");
  length.value = 50 + 25 * Math.log2(shown.length);
  length.oninput = () => {
    shown.length = 2 ** ((length.value - 50) / 25);
    length.setAttribute("aria-valuetext", `${short(shown.length, 2)} times`);
    page.memory.set("shown", shown);
    page.later();
  };
  fillBodies(page);
  const paths = document.getElementById("paths");
  paths.replaceChildren();
  for (const marker of drawing.scene.markers.filter((m) => m.body > 0))
    checkbox(paths, marker.name, drawing.traced.has(marker.name), (on) => {
      drawing.traced[on ? "add" : "delete"](marker.name);
      page.later();
    });
  for (const button of document.querySelectorAll("[data-look]"))
    button.onclick = () => {
      page.camera.look(button.dataset.look);
      page.later();
    };
  const follow = document.getElementById("follow");
  follow.replaceChildren(...drawing.bodies.map((body, k) => make("option", { value: k, textContent: k ? body.name : "nothing" })));
  follow.value = page.followed;
  follow.onchange = () => page.follow(Number(follow.value));
}

function checkbox(parent, word, checked, changed) {
  const label = make("label", {}, parent);
  const box = make("input", { type: "checkbox", checked }, label);
  label.append(word);
  box.addEventListener("change", () => changed(box.checked));
  return box;
}

// A row for each body: whether it is shown, and how opaque it is.
function fillBodies(page) {
  const parent = document.getElementById("bodies");
  parent.replaceChildren();
  page.drawing.bodies.forEach((body, k) => {
    if (!k && !body.solids.length) return;
    const row = make("div", { className: "body-row" }, parent);
    const box = checkbox(row, body.name, body.opacity > 0, (on) => set(on ? Number(slider.value) / 100 || 1 : 0));
    box.name = body.name;
    const slider = make("input", { type: "range", min: 5, max: 100, value: 100 * body.opacity || 100, ariaLabel: `Opacity of ${body.name}`, title: "Opacity" }, row);
    const set = (opacity) => {
      body.opacity = opacity;
      box.checked = opacity > 0;
      slider.style.setProperty("--done", `${slider.value}%`);
      slider.setAttribute("aria-valuetext", `${slider.value} per cent`);
      page.later();
    };
    slider.addEventListener("input", () => set(Number(slider.value) / 100));
    set(body.opacity);
  });
}
