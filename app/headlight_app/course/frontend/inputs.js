// The changes of a learner, by screen and control, as in the address.

/** @import { Control, CourseModel, ScreenRow } from "./types.js" */
/** @typedef {Readonly<Record<string, string>>} Inputs texts by the names of controls */

const SHARED = "own"; // replaces the name of a private file: RecordingControl in Python

/** The changed inputs of the screens of a chapter; all others have the defaults of their rows. */
export class ChangedInputs {
  /** @type {Map<string, Inputs>} */
  #byScreen = new Map();
  /** Inputs that only this learner can open, by screen and control. @type {Set<string>} */
  #private = new Set();
  #models;

  /** @param {string} encoded as in the address: `look-up.sharpness=3` @param {CourseModel[]} models */
  constructor(encoded = "", models = []) {
    this.#models = models;
    for (const [path, text] of new URLSearchParams(encoded)) {
      const [screen, name] = path.split(".");
      if (name) this.#byScreen.set(screen, { ...this.#byScreen.get(screen), [name]: text });
    }
  }

  /** The changed inputs of a screen. @param {string} screen */
  of(screen) {
    return this.#byScreen.get(screen) ?? {};
  }

  /** The text of each control of a screen. @param {ScreenRow} screen @returns {Record<string, string>} */
  all(screen) {
    const changed = this.of(screen.name);
    return { ...this.#fit(screen, { ...startValues(screen), ...changed }), ...changed };
  }

  /**
   * Changes some inputs of a screen; inputs that equal their defaults are dropped. If the model changes, layers and
   * heads that it lacks are corrected; typed numbers are not.
   * @param {ScreenRow} screen @param {Inputs} patch
   */
  change(screen, patch) {
    for (const { name, kind } of screen.controls) if (kind === "recording") this.#private.add(`${screen.name}.${name}`);
    const begins = startValues(screen);
    const changed = { ...this.of(screen.name), ...patch };
    const fitted = "model" in patch ? this.#fit(screen, { ...begins, ...changed }) : changed;
    const kept = Object.keys(changed).filter((name) => fitted[name] !== begins[name]);
    this.#byScreen.set(screen.name, Object.fromEntries(kept.map((name) => [name, fitted[name]])));
  }

  /** The texts, with the model's last layer or head for one that it lacks. @param {ScreenRow} screen @param {Inputs} texts */
  #fit(screen, texts) {
    const last = (/** @type {Control} */ control) => lastPart(control, this.#models, texts.model) ?? Infinity;
    const beyond = screen.controls.filter((control) => Number(texts[control.name]) > last(control));
    return { ...texts, ...Object.fromEntries(beyond.map((control) => [control.name, String(last(control))])) };
  }

  /** All screens, encoded for the address. */
  encode() {
    return encodeInputs(this.#byScreen, this.#private);
  }
}

/**
 * The last layer or head of a model that a control can choose; null for other controls, or if the model is unknown.
 * @param {Control} control @param {CourseModel[]} models @param {string} chosen
 */
export function lastPart(control, models, chosen) {
  const model = models.find(({ name }) => name === chosen);
  return model && control.kind === "part" ? model.parts[control.part] - 1 : null;
}

/** @param {ScreenRow} screen @returns {Record<string, string>} */
function startValues({ controls }) {
  return Object.fromEntries(controls.map((control) => [control.name, control.default]));
}

/**
 * Inputs by screen, encoded for the address; private ones are replaced by a placeholder.
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

/**
 * Whether the text of a field is not a number, or is out of range.
 * @param {string} text @param {{ low?: number, high?: number }} [limits]
 */
export function isInvalid(text, { low = -Infinity, high = Infinity } = {}) {
  const number = text.trim() ? Number(text.replace("−", "-")) : Number.NaN;
  return !(number >= low && number <= high);
}
