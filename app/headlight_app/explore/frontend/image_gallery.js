// The images or recordings that a model may read in place of a sentence: shipped ones, and this visitor's uploads.

import { createButton, createElement } from "../../ui/frontend/dom/dom.js";
import { find } from "../../ui/frontend/dom/elements.js";
import { failureText, uploadFile } from "../../ui/frontend/server.js";
import { remembered } from "../../ui/frontend/state/memory.js";
import { ANOTHER_TEXT } from "./texts.js";

/** @import { ExplorePage } from "./types.js" */

const UPLOAD_PREFIX = "own-"; // begins the names of pictures that visitors brought, as in app/headlight_app/state/state.py
const MAX_FILE_SIZE = 8 << 20;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp"];
const SOUND_TYPE = "audio/wav"; // whatever the browser calls a WAV file

const memory = remembered(() => ({
  uploads: /** @type {string[]} */ ([]),
  player: createElement("audio", "player", [], { controls: true, ariaLabel: "The recording" }),
}));

/**
 * Shows the chooser in place of the sentence, or of the source, for a model of pictures or sounds, and hides it for all others.
 * @param {ExplorePage} page
 */
export function drawGallery(page) {
  const { gallery, text } = page.view.elements;
  const { images, hears, has_source } = page.state.catalogue;
  page.view.elements.invitation.textContent = images ? `Choose ${hears ? "a recording" : "an image"}` : "Type";
  const box = /** @type {HTMLElement} */ (text.closest(".box"));
  const writes = has_source || !images;
  gallery.hidden = !images;
  (writes ? box : gallery).append(page.view.elements.status);
  box.hidden = !writes;
  if (images && writes && gallery.nextElementSibling !== box) box.before(gallery); // a caption stands below its picture
  page.view.elements.examples.hidden = Boolean(images);
  if (!images) return;
  const { uploads } = memory(page);
  const chosen = page.server.imageName();
  if (chosen.startsWith(UPLOAD_PREFIX) && !uploads.includes(chosen)) uploads.push(chosen);
  const names = [...images, ...uploads];
  if (gallery.dataset.names !== names.join()) {
    gallery.dataset.names = names.join();
    find(gallery, ".frames").replaceChildren(...names.map((name) => createImageButton(page, name)));
  }
  for (const button of gallery.querySelectorAll(".frame"))
    button.ariaPressed = String(button.getAttribute("data-name") === chosen);
  if (page.state.catalogue.hears) drawPlayer(page, chosen);
}

/** Plays what is chosen, and says what can be brought. @param {ExplorePage} page @param {string} chosen */
function drawPlayer(page, chosen) {
  const { bring, gallery } = page.view.elements;
  const { player } = memory(page);
  bring.accept = `.wav,${SOUND_TYPE}`;
  gallery.ariaLabel = "Recordings";
  bring.ariaLabel = "Your own recording";
  const label = /** @type {HTMLElement} */ (bring.parentElement);
  label.title = "A WAV file, up to 8 MB. It stays in this server's memory for a while, for you alone.";
  if (!player.isConnected) label.after(player);
  const source = page.server.imageUrl(chosen);
  if (player.getAttribute("src") !== source) player.src = source;
}

/** @param {ExplorePage} page @param {string} name */
function createImageButton(page, name) {
  const mine = name.startsWith(UPLOAD_PREFIX);
  const { hears } = page.state.catalogue;
  const kind = hears ? "recording" : "image";
  const title = mine ? `Your ${kind}` : `${hears ? "Recording" : "Image"}: ${name}`;
  if (hears) {
    const button = createButton("frame sound", mine ? title : name, `picture-${mine ? "own" : name}`, () =>
      chooseImage(page, name),
    );
    button.dataset.name = name;
    return button;
  }
  const image = createElement("img", "", [], { src: page.server.imageUrl(name), alt: title, draggable: false });
  const button = createButton("frame", [image], `picture-${mine ? "own" : name}`, () => chooseImage(page, name));
  button.title = title;
  button.dataset.name = name;
  image.onerror = () => {
    memory(page).uploads = memory(page).uploads.filter((other) => other !== name); // the server let it go
    button.remove();
  };
  return button;
}

/** @param {ExplorePage} page @param {string} name */
function chooseImage(page, name) {
  page.change({ image: name, pinned: [], ...(page.state.writesTarget ? ANOTHER_TEXT : {}) });
  drawGallery(page);
}

/**
 * A picture or a recording goes to the server once, as a file; from then on it has a name that only this visitor can use.
 * @param {ExplorePage} page @param {File} file
 */
async function uploadImage(page, file) {
  const { bring } = page.view.elements;
  bring.disabled = true;
  try {
    const { hears } = page.state.catalogue;
    if (!hears && !IMAGE_TYPES.includes(file.type)) throw new Error("This is not a PNG, JPEG or WebP image.");
    if (file.size > MAX_FILE_SIZE) throw new Error("A file may have at most 8 MB; make this one smaller.");
    const name = await uploadFile(
      page.server.api,
      hears ? await file.arrayBuffer() : file,
      hears ? SOUND_TYPE : file.type,
    );
    memory(page).uploads.push(name);
    chooseImage(page, name);
  } catch (error) {
    page.view.showProblem(failureText(error));
  } finally {
    bring.disabled = false;
    bring.value = "";
  }
}

/** @param {ExplorePage} page */
export function listenToGallery(page) {
  const { bring, gallery } = page.view.elements;
  bring.onchange = () => bring.files?.[0] && uploadImage(page, bring.files[0]);
  gallery.ondragover = (event) => event.preventDefault();
  gallery.ondrop = (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) uploadImage(page, file);
  };
}
