// What a learner has changed, by screen and control, as it stands in the address.

/** @import { ScreenRow } from "./types.d.ts" */
/** @typedef {Readonly<Record<string, string>>} Inputs texts by the names of controls */

const SHARED = "own"; // in place of a file that is its owner's alone: RecordingControl in Python

/** What was changed on the screens of a chapter; the rest is as the rows say. */
export class ChangedInputs {
  /** @type {Map<string, Inputs>} */
  #byScreen = new Map();
  /** What nobody else can open, by screen and control. @type {Set<string>} */
  #private = new Set();

  /** @param {string} encoded as in an address: `look-up.sharpness=3` */
  constructor(encoded = "") {
    for (const [path, text] of new URLSearchParams(encoded)) {
      const [screen, name] = path.split(".");
      if (name) this.#byScreen.set(screen, { ...this.#byScreen.get(screen), [name]: text });
    }
  }

  /** What was changed on a screen. @param {string} screen */
  of(screen) {
    return this.#byScreen.get(screen) ?? {};
  }

  /** The text of each control of a screen. @param {ScreenRow} screen @returns {Record<string, string>} */
  all(screen) {
    const changed = this.of(screen.name);
    return Object.fromEntries(screen.controls.map(({ name, default: begins }) => [name, changed[name] ?? begins]));
  }

  /** Changes some inputs of a screen; what is as it began is forgotten. @param {ScreenRow} screen @param {Inputs} patch */
  change(screen, patch) {
    for (const { name, kind } of screen.controls) if (kind === "recording") this.#private.add(`${screen.name}.${name}`);
    const texts = Object.entries({ ...this.of(screen.name), ...patch });
    const begins = Object.fromEntries(screen.controls.map((control) => [control.name, control.default]));
    this.#byScreen.set(screen.name, Object.fromEntries(texts.filter(([name, text]) => text !== begins[name])));
  }

  /** All screens, as they stand in an address. */
  encode() {
    return encodeInputs(this.#byScreen, this.#private);
  }
}

/**
 * Inputs by screen, as they stand in an address; of what is private it says that there was something.
 * @param {ReadonlyMap<string, Inputs>} byScreen @param {ReadonlySet<string>} [hidden] by screen and control
 */
export function encodeInputs(byScreen, hidden = new Set()) {
  const parameters = new URLSearchParams();
  for (const [screen, inputs] of byScreen) {
    for (const [name, text] of Object.entries(inputs)) {
      const path = `${screen}.${name}`;
      parameters.set(path, hidden.has(path) ? SHARED : text);
    }
  }
  parameters.sort();
  return parameters.toString();
}
