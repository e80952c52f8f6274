// The sentence about a plot is read aloud only while the focus is on the plot.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../dom.js";

const { keysReadout, queriesReadout } = await import("../../../app/headlight_app/ui/frontend/heads/readout.ts");
const { exactMatrix } = await import("../../../app/headlight_app/ui/frontend/state/head_matrix.ts");
const { createPage } = await import("../explore/page.js");
const { listenToReadings } = await import("../../../app/headlight_app/ui/frontend/dom/announce.ts");

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

test("a head that divides its attention evenly among many tokens is not said to look at nothing", () => {
  const count = 250;
  const axis = { labels: Array.from({ length: count }, (_, place) => `t${place}`), tokens: [] };
  const one = { labels: ["last"], tokens: [] };
  const numbers = new Float32Array(count + count / 4 + 1).fill(1 / count);
  new Uint8Array(numbers.buffer).fill(1, 4 * count);
  const meta = {
    rows: one,
    columns: axis,
    signed: false,
    scale: "probability",
    low: 0,
    high: 1,
    per_head: 0,
    rules: [],
  };
  const matrix = exactMatrix(createPage().page, /** @type {any} */ ({ meta, numbers }));
  const said = (/** @type {(Node | string)[]} */ words) =>
    words.map((word) => (typeof word === "string" ? word : word.textContent)).join("");
  assert.equal(said(keysReadout(matrix, [0])), "last looks at no token with more than 0.5 %.");
  assert.equal(said(queriesReadout(matrix, 3)), "t3 gets more than 0.5 % from no token.");
});
