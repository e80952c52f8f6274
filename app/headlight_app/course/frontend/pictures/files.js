// Files that came with an answer: a sound to play, a text to download.

import { saveFile } from "../../../ui/frontend/dom/clipboard.js";
import { createElement } from "../../../ui/frontend/dom/dom.js";

/** @import { FilePicture, SoundPicture } from "../types.d.ts" */

/** @param {SoundPicture} picture */
export function createSound({ title, source }) {
  return createElement("audio", "sound", [], { controls: true, src: source, ariaLabel: title });
}

/** @param {FilePicture} picture */
export function createFile({ file_name, media_type, text }) {
  const button = createElement("button", "act", `Download ${file_name}`);
  button.dataset.testid = `download-${file_name}`;
  button.onclick = () => saveFile(file_name, media_type, text);
  return button;
}
