// Keys of the whole page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isShortcut } from "../../../app/headlight_app/ui/frontend/shortcut.ts";

/** @param {Partial<KeyboardEvent>} [event] */
function pressed(event) {
  return /** @type {KeyboardEvent} */ ({ key: "?", composedPath: () => /** @type {EventTarget[]} */ ([]), ...event });
}

test("a key pressed alone is a shortcut, but not with Control or after another handler used it", (context) => {
  Object.assign(globalThis, { Element: class {} });
  context.after(() => Reflect.deleteProperty(globalThis, "Element"));
  assert.equal(isShortcut(pressed(), "?"), true);
  assert.equal(isShortcut(pressed({ key: "p" }), "?"), false);
  assert.equal(isShortcut(pressed({ ctrlKey: true }), "?"), false);
  assert.equal(isShortcut(pressed({ defaultPrevented: true }), "?"), false);
});
