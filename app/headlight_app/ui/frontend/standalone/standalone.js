// What Python puts into a notebook or a file: heads alone, or heads as a widget that Python answers.

import { inflate } from "../wire.js";
import { openPage } from "./page.js";

export { renderWidget } from "./widget.js";

/** @import { SavedPage } from "../types.js" */

/**
 * Draws into `host` what Python's `show` has put together.
 * @param {HTMLElement} host @param {SavedPage} saved
 * @param {string} numbers bytes, deflated, as base64
 */
export async function openStandalone(host, saved, numbers) {
  openPage(host, saved, await inflate(numbers));
}
