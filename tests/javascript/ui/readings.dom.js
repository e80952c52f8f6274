// The sentence about a plot is read aloud only while the focus is on the plot.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../dom.js";

const { listenToReadings } = await import("../../../app/headlight_app/ui/frontend/dom/announce.js");

test("a reading is silent while one chooses, here or elsewhere on the page", () => {
  document.body.innerHTML = `<div><canvas tabindex="0"></canvas><select></select><p class="reading"></p></div>
    <button>elsewhere</button>`;
  const place = /** @type {HTMLElement} */ (document.querySelector("div"));
  const [plot, select, reading] = /** @type {HTMLElement[]} */ ([...place.children]);
  const elsewhere = /** @type {HTMLElement} */ (document.querySelector("button"));
  listenToReadings(place);
  const heard = [plot, select, plot, elsewhere, plot].map((element) => {
    element.focus();
    return reading.ariaLive;
  });
  assert.deepEqual(heard, ["polite", "off", "polite", "off", "polite"]);
});
