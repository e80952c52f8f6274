// How large things are and what colours are in force: measured once, not amid drawing.

import { canvasStyle } from "../ui/dom.js";

/** How wide a part is. Measured once: asked amid drawing, the browser would lay out all of the page to say it. */
export function measuredWidth(self, part) {
  if (!self.measured[part]) self.measured[part] = measureWithoutThumbnails(self, () => self.parts[part].clientWidth);
  return self.measured[part];
}

/** Measures without the thumbnails' canvas: still as large as before, it could hold a scroll bar in its place. */
export function measureWithoutThumbnails(self, measure) {
  if (!self.thumbs) return measure();
  self.thumbs.hidden = true;
  const measured = measure();
  self.thumbs.hidden = false;
  return measured;
}

/** The colours and the font, measured once for the same reason. */
export function currentStyle(self) {
  return (self.measured.style ??= canvasStyle(self.parts.root));
}

/** The window, the theme or the arrangement is another one. */
export function clearMeasurements(self) {
  self.measured = {};
}

/** How high a picture may be. */
export function plotHeight(self) {
  if (self.style.type > 1) return Math.max(innerHeight - 470, 280); // all of it on the projector's one screen
  return self.choice.size === "large" ? 540 : 430;
}
