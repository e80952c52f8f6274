// Files in an answer: a sound to play, a text to download.

import { saveFile } from "../dom/clipboard.js";
import { createButton, createElement } from "../dom/dom.js";

/** @import { FileView, SoundView } from "./types.js" */

/** @param {SoundView} view */
export function createSound({ title, source }) {
  return createElement("audio", "sound", [], { controls: true, src: source, ariaLabel: title });
}

/** @param {FileView} view */
export function createFile({ file_name, media_type, text }) {
  const save = () => saveFile(file_name, media_type, text);
  return createButton("act", `Download ${file_name}`, `download-${file_name}`, save);
}
