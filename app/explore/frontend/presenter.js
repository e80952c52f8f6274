// Presenter mode: large type and thick lines for a projector, fewer controls. The key p switches it where nobody types.

import { clearMeasurements } from "../../../model/rendering/static/heads/measurements.js";

export function listenToPresenter(self, named) {
  named("leave-presenter").onclick = () => self.change({ presenter: "" });
  const pressed = (event) => {
    if (event.key !== "p" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !self.choice) return;
    const [from] = event.composedPath();
    if (from.closest?.("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    self.change({ presenter: self.choice.presenter ? "" : "1" });
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}

/** Only the class: what is drawn follows it by `--type`. */
export function drawPresenter(self) {
  const { root } = self.parts;
  const before = root.className;
  root.classList.toggle("presenter", self.choice.presenter === "1");
  root.classList.toggle("bare", self.choice.bare === "1");
  if (root.className === before) return;
  self.laid = self.shape = ""; // thumbnails are laid out anew
  clearMeasurements(self);
}
