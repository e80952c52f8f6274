// Copies to the clipboard, and saves files.

import { createElement } from "./dom.js";

/** Copies text, and confirms it on the button for a moment. @param {HTMLElement} button @param {string} text */
export async function copyText(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(button, text); // pages served over plain http have no clipboard
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = before), 1200);
}

/** @param {HTMLElement} button @param {string} text */
function copyBySelection(button, text) {
  const box = createElement("textarea", "unseen", [], { value: text });
  button.after(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}

/** @param {string} name @param {string} kind @param {string} text */
export function saveFile(name, kind, text) {
  saveBlob(name, new Blob([text], { type: `${kind};charset=utf-8` }));
}

/** @param {string} name @param {Blob} blob */
export function saveBlob(name, blob) {
  const link = createElement("a", "", [], { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
