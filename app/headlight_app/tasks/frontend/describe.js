// Describe: the words of a caption, each beneath the picture shaded by the weights of the step that wrote it.

import { shadePatch } from "../../ui/frontend/charts/colours.js";
import { createElement, hidpiContext, inlineText, onHover, updateChildren } from "../../ui/frontend/dom/dom.js";
import { findByTestId } from "../../ui/frontend/dom/elements.js";
import { drawCoveredPart, loadedImage } from "../../ui/frontend/plots/image_overlay.js";
import { activeQueries, lockQuery, setHover } from "../../ui/frontend/state/token_selection.js";
import { alignmentWeights, exactWeights } from "./alignment_weights.js";
import { exportedLooks } from "./export/looks.js";

/** @import { Drawable } from "../../ui/frontend/plots/image_overlay.js" */
/** @import { AlignmentWeights, ExplorePage, Patches } from "./types.js" */

const LONGER_SIDE = 90; // maximal pixels; a patch has a whole number of pixels

/** @param {ExplorePage} page @param {string} name */
const part = (page, name) => findByTestId(page.view.elements.root, name);

export default {
  /** @param {ExplorePage} page */
  draw(page) {
    const { tokens, attention_groups, patches } = page.state.answer;
    const cross = attention_groups.find(({ kind }) => kind === "cross");
    const image = patches && loadedImage(page);
    const weights = cross && alignmentWeights(page, cross.name);
    if (!image || !weights) return;
    const place = part(page, "described");
    const words = tokens.slice(1); // without the start token
    const known = [...place.children];
    updateChildren(
      place,
      ...words.map(({ text }, query) => {
        const old = known[query];
        const button = old instanceof HTMLButtonElement ? old : createWord(page, query);
        const label = button.querySelector("bdi");
        if (label) label.textContent = inlineText(text);
        const canvas = button.querySelector("canvas");
        if (canvas) drawLook(canvas, image, patches, weights, query);
        return button;
      }),
    );
    part(page, "describe-reading").textContent =
      `Weights of ${weights.title}, on a square-root scale; in each picture the largest is fully bright.`;
    mark(page);
  },

  markPointer: mark,

  /** @param {ExplorePage} page */
  async exported(page) {
    const { tokens, attention_groups, patches } = page.state.answer;
    const cross = attention_groups.find(({ kind }) => kind === "cross");
    const image = patches && loadedImage(page);
    if (!cross || !image) throw new Error("The picture is not here yet. Try again in a moment.");
    const weights = await exactWeights(page, cross.name);
    const words = tokens.slice(1).map(({ text }, query) => {
      const canvas = createElement("canvas");
      drawLook(canvas, image, patches, weights, query);
      return { text, png: canvas.toDataURL("image/png").split(",")[1] };
    });
    return exportedLooks(words, patches, weights);
  },
};

/** @param {ExplorePage} page @param {number} query */
function createWord(page, query) {
  const canvas = createElement("canvas", "", [], { ariaHidden: "true" });
  const button = createElement("button", "look", [canvas, createElement("bdi")]);
  button.onclick = () => lockQuery(page, query);
  onHover(button, { read: () => setHover(page, { query, key: null }), left: () => setHover(page, null) });
  return button;
}

/** Frames the pictures of the active queries. @param {ExplorePage} page */
function mark(page) {
  const hot = activeQueries(page);
  for (const [query, button] of [...part(page, "described").children].entries())
    button.ariaPressed = String(hot.includes(query));
}

/**
 * @param {HTMLCanvasElement} canvas @param {Drawable} image @param {Patches} patches @param {AlignmentWeights} weights
 * @param {number} query
 */
function drawLook(canvas, image, patches, weights, query) {
  const { rows, columns } = patches;
  const scale = Math.max(1, Math.floor(LONGER_SIDE / Math.max(rows, columns)));
  const [width, height] = [columns * scale, rows * scale];
  const context = hidpiContext(canvas, width, height);
  drawCoveredPart(context, image, patches, [0, 0, width, height]);
  const looks = Array.from({ length: rows * columns }, (_, patch) => weights.at(query, patches.first_token + patch));
  const most = Math.max(...looks, 1e-12);
  for (const [patch, look] of looks.entries()) {
    const [left, top] = [(patch % columns) * scale, Math.floor(patch / columns) * scale];
    shadePatch(context, [left, top, scale, scale], Math.sqrt(look / most));
  }
}
