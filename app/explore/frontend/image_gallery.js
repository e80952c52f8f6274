// The pictures that a model may read in place of a sentence: drawn ones, and those that this visitor brought.

import { createElement } from "../../../model/rendering/static/ui/dom.js";
import { unpack } from "../../../model/rendering/static/ui/wire.js";
import { showProblem } from "./main.js";

const UPLOAD_PREFIX = "own-"; // begins the names of pictures that visitors brought, as in app/state.py
const MAX_FILE_SIZE = 8 << 20;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp"];

/** The picture at hand; an empty name in the address is the first drawn one. */
function currentImage(self) {
  return self.choice.image || self.pictures[0];
}

export function imageUrl(self, name) {
  return `${self.api}/picture/${encodeURIComponent(name)}`;
}

/** Shows the chooser in place of the sentence for a model of pictures, and hides it for all others. */
export function drawGallery(self) {
  const { gallery, text } = self.parts;
  gallery.hidden = !self.pictures;
  (self.pictures ? gallery : text.closest(".box")).append(self.parts.status);
  text.closest(".box").hidden = self.parts.examples.hidden = Boolean(self.pictures);
  if (!self.pictures) return;
  const chosen = currentImage(self);
  if (chosen.startsWith(UPLOAD_PREFIX) && !self.own.includes(chosen)) self.own.push(chosen);
  const names = [...self.pictures, ...self.own];
  if (gallery.dataset.names !== names.join()) {
    gallery.dataset.names = names.join();
    gallery.querySelector(".frames").replaceChildren(...names.map((name) => createImageButton(self, name)));
  }
  for (const button of gallery.querySelectorAll(".frame")) button.setAttribute("aria-pressed", String(button.dataset.name === chosen));
}

function createImageButton(self, name) {
  const button = createElement("button", "frame");
  button.type = "button";
  button.dataset.name = name;
  const mine = name.startsWith(UPLOAD_PREFIX);
  button.dataset.testid = `picture-${mine ? "own" : name}`;
  const image = createElement("img");
  image.src = self.imageUrl(name);
  image.alt = mine ? "Your picture" : `Picture: ${name}`;
  image.draggable = false;
  button.title = image.alt;
  button.append(image);
  button.onclick = () => chooseImage(self, name);
  image.onerror = () => {
    self.own = self.own.filter((other) => other !== name); // the server let it go
    button.remove();
  };
  return button;
}

function chooseImage(self, name) {
  self.change({ image: name, locked: [] });
  drawGallery(self);
}

/** A picture goes to the server once, as a file; from then on it has a name that only this visitor can use. */
async function uploadImage(self, file) {
  const { bring } = self.parts;
  bring.disabled = true;
  try {
    if (!IMAGE_TYPES.includes(file.type)) throw new Error("This is no PNG, JPEG or WebP picture.");
    if (file.size > MAX_FILE_SIZE) throw new Error("A picture may have 8 MB; make this one smaller.");
    const answer = await fetch(`${self.api}/picture`, { method: "POST", headers: { "Content-Type": file.type }, body: file });
    const { meta } = unpack(await answer.arrayBuffer());
    if (meta.error) throw new Error(meta.error);
    self.own.push(meta.name);
    chooseImage(self, meta.name);
  } catch (error) {
    showProblem(self, error instanceof TypeError ? "The server does not answer. Is Headlight still running?" : error.message);
  } finally {
    bring.disabled = false;
    bring.value = "";
  }
}

export function listenToGallery(self) {
  const { bring, gallery } = self.parts;
  bring.onchange = () => bring.files[0] && uploadImage(self, bring.files[0]);
  gallery.ondragover = (event) => event.preventDefault();
  gallery.ondrop = (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) uploadImage(self, file);
  };
}
