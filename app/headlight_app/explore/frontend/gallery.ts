// The gallery of images or recordings that replaces the sentence or the source for models that read one.

import { remembered } from "../../ui/frontend/dom/memory.ts";
import { SignalGallery } from "../../ui/frontend/signal_gallery/signal_gallery.ts";
import { ANOTHER_TEXT } from "./texts.ts";
import type { ExplorePage } from "./types.ts";

const memory = remembered((page: ExplorePage) => ({
  gallery: new SignalGallery(page.view.elements.gallery, page.server.api, {
    choose: (name) => {
      page.change({ image: name, pinned: [], ...(page.state.writesTarget ? ANOTHER_TEXT : {}) });
      drawGallery(page);
    },
    fail: (sentence) => page.view.showProblem(sentence),
  }),
}));

/** Shows the gallery for a model of images or sounds, and hides it for all others. */
export function drawGallery(page: ExplorePage) {
  const { gallery, text, invitation, status, caption, examples } = page.view.elements;
  const { images, hears, has_source } = page.state.catalogue;
  invitation.textContent = images ? `Choose ${hears ? "a recording" : "an image"}` : "Type";
  const box = text.closest(".box") as HTMLElement;
  const writes = has_source || !images;
  if (writes) caption.after(status);
  else gallery.append(status);
  box.hidden = !writes;
  if (images && writes && gallery.nextElementSibling !== box) box.before(gallery); // a caption is below its image
  examples.hidden = Boolean(images);
  memory(page).gallery.draw(images ?? [], Boolean(hears), page.server.imageName());
}
