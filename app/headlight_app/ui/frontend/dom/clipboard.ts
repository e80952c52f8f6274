// Copies to the clipboard, and saves files.

import { createElement } from "./dom.ts";

/** Copies text, and confirms it on the button for a moment. */
export async function copyText(button: HTMLElement, text: string) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(button, text); // pages served over plain http have no clipboard
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = before), 1200);
}

function copyBySelection(button: HTMLElement, text: string) {
  const box = createElement("textarea", "unseen", [], { value: text });
  button.after(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}

export function saveFile(name: string, kind: string, text: string) {
  saveBlob(name, new Blob([text], { type: `${kind};charset=utf-8` }));
}

export function saveBlob(name: string, blob: Blob) {
  const link = createElement("a", "", [], { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A text as a cell of a table with commas. */
export function csvCell(text: string) {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
