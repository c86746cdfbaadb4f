// Sentences over the view, which move nothing else: what went wrong, and what the browser lacks.

class Notices {
  constructor(element) {
    this.element = element;
  }

  tell(sentence, wrong = false) {
    this.element.replaceChildren(make("span", { textContent: sentence }));
    this.element.classList.toggle("wrong", wrong);
    this.element.hidden = !sentence;
    const close = make("button", { type: "button", textContent: "×", ariaLabel: "Close this message" }, this.element);
    close.addEventListener("click", () => (this.element.hidden = true));
  }

  clear() {
    this.element.hidden = true;
  }
}

const NO_WEBGL = "This browser does not offer WebGL 2, so that bodies are drawn flat and without shadows; turn on its graphics acceleration to see more.";
