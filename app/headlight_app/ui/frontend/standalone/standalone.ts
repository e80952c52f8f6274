// Entry points for Python: heads in a notebook or a file, or heads as a widget that Python answers.

import type { SavedPage } from "../types.ts";
import { inflate } from "../wire.ts";
import { openPage } from "./page.ts";

export { renderWidget } from "./widget.ts";

/** Draws the data of Python's `show` into `host`. @param numbers bytes, deflated, as base64 */
export async function openStandalone(host: HTMLElement, saved: SavedPage, numbers: string) {
  openPage(host, saved, await inflate(numbers));
}
