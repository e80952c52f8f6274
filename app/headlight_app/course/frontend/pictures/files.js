// Files in an answer: a sound to play, a text to download.

import { saveFile } from "../../../ui/frontend/dom/clipboard.js";
import { createButton, createElement } from "../../../ui/frontend/dom/dom.js";

/** @import { FilePicture, SoundPicture } from "../types.d.ts" */

/** @param {SoundPicture} picture */
export function createSound({ title, source }) {
  return createElement("audio", "sound", [], { controls: true, src: source, ariaLabel: title });
}

/** @param {FilePicture} picture */
export function createFile({ file_name, media_type, text }) {
  const save = () => saveFile(file_name, media_type, text);
  return createButton("act", `Download ${file_name}`, `download-${file_name}`, save);
}
