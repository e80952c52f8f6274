// The gallery of images or recordings that replaces the sentence or the source for models that read one.

import { remembered } from "../../ui/frontend/dom/memory.js";
import { SignalGallery } from "../../ui/frontend/signal_gallery/signal_gallery.js";
import { ANOTHER_TEXT } from "./texts.js";

/** @import { ExplorePage } from "./types.js" */

const memory = remembered((/** @type {ExplorePage} */ page) => ({
  gallery: new SignalGallery(page.view.elements.gallery, page.server.api, {
    choose: (name) => {
      page.change({ image: name, pinned: [], ...(page.state.writesTarget ? ANOTHER_TEXT : {}) });
      drawGallery(page);
    },
    fail: (sentence) => page.view.showProblem(sentence),
  }),
}));

/**
 * Shows the gallery for a model of images or sounds, and hides it for all others.
 * @param {ExplorePage} page
 */
export function drawGallery(page) {
  const { gallery, text, invitation, status, examples } = page.view.elements;
  const { images, hears, has_source } = page.state.catalogue;
  invitation.textContent = images ? `Choose ${hears ? "a recording" : "an image"}` : "Type";
  const box = /** @type {HTMLElement} */ (text.closest(".box"));
  const writes = has_source || !images;
  (writes ? box : gallery).append(status);
  box.hidden = !writes;
  if (images && writes && gallery.nextElementSibling !== box) box.before(gallery); // a caption is below its image
  examples.hidden = Boolean(images);
  memory(page).gallery.draw(images ?? [], Boolean(hears), page.server.imageName());
}
