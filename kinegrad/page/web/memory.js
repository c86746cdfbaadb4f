// What the reader chose, kept by the browser for pages of the same title and panels; a browser that keeps nothing is no fault.

class Memory {
  constructor(scene) {
    const own = JSON.stringify(scene.panels.map((panel) => panel.names));
    let sum = 0;
    for (const c of own) sum = (31 * sum + c.charCodeAt(0)) % 1000003;
    this.key = `kinegrad.page ${scene.title} ${sum}`;
    try {
      this.kept = JSON.parse(localStorage.getItem(this.key)) || {};
    } catch (error) {
      this.kept = {};
    }
  }

  get(name) {
    return this.kept[name];
  }

  // `undefined` forgets.
  set(name, value) {
    this.kept[name] = value;
    try {
      localStorage.setItem(this.key, JSON.stringify(this.kept));
    } catch (error) {
      // it is kept as long as the page is open
    }
  }
}
