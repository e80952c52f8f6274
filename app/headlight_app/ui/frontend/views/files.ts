// Files in an answer: a sound to play, a text to download.

import { saveFile } from "../dom/clipboard.ts";
import { createButton, createElement } from "../dom/dom.ts";
import type { FileView, SoundView } from "./types.ts";

export function createSound({ title, source }: SoundView) {
  return createElement("audio", "sound", [], { controls: true, src: source, ariaLabel: title });
}

export function createFile({ file_name, media_type, text }: FileView) {
  const save = () => saveFile(file_name, media_type, text);
  return createButton("act", `Download ${file_name}`, `download-${file_name}`, save);
}
