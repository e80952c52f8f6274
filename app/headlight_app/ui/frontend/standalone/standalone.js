// Entry points for Python: heads in a notebook or a file, or heads as a widget that Python answers.

import { inflate } from "../wire.js";
import { openPage } from "./page.js";

export { renderWidget } from "./widget.js";

/** @import { SavedPage } from "../types.js" */

/**
 * Draws the data of Python's `show` into `host`.
 * @param {HTMLElement} host @param {SavedPage} saved
 * @param {string} numbers bytes, deflated, as base64
 */
export async function openStandalone(host, saved, numbers) {
  openPage(host, saved, await inflate(numbers));
}
