// The changes of a learner, by screen and control, as in the address.

import type { Control, CourseModel, ScreenRow } from "./types.ts";
export type Inputs = Readonly<Record<string, string>>; // texts by the names of controls

const SHARED = "own"; // replaces the name of a private file: RecordingControl in Python

/** The changed inputs of the screens of a chapter; all others have the defaults of their rows. */
export class ChangedInputs {
  #byScreen: Map<string, Inputs> = new Map();
  /** Inputs that only this learner can open, by screen and control. */
  #private: Set<string> = new Set();
  #models;

  /** @param encoded as in the address: `look-up.sharpness=3` */
  constructor(encoded: string = "", models: CourseModel[] = []) {
    this.#models = models;
    for (const [path, text] of new URLSearchParams(encoded)) {
      const [screen, name] = path.split(".");
      if (name) this.#byScreen.set(screen, { ...this.#byScreen.get(screen), [name]: text });
    }
  }

  /** The changed inputs of a screen. */
  of(screen: string) {
    return this.#byScreen.get(screen) ?? {};
  }

  /** The text of each control of a screen. */
  all(screen: ScreenRow): Record<string, string> {
    const changed = this.of(screen.name);
    return { ...this.#fit(screen, { ...startValues(screen), ...changed }), ...changed };
  }

  /**
   * Changes some inputs of a screen; inputs that equal their defaults are dropped. If the model changes, layers and
   * heads that it lacks are corrected; typed numbers are not.
   */
  change(screen: ScreenRow, patch: Inputs) {
    for (const { name, kind } of screen.controls) if (kind === "recording") this.#private.add(`${screen.name}.${name}`);
    const begins = startValues(screen);
    const changed = { ...this.of(screen.name), ...patch };
    const fitted = "model" in patch ? this.#fit(screen, { ...begins, ...changed }) : changed;
    const kept = Object.keys(changed).filter((name) => fitted[name] !== begins[name]);
    this.#byScreen.set(screen.name, Object.fromEntries(kept.map((name) => [name, fitted[name]])));
  }

  /** The texts, with the model's last layer or head for one that it lacks. */
  #fit(screen: ScreenRow, texts: Inputs) {
    const last = (control: Control) => lastPart(control, this.#models, texts.model) ?? Infinity;
    const beyond = screen.controls.filter((control) => Number(texts[control.name]) > last(control));
    return { ...texts, ...Object.fromEntries(beyond.map((control) => [control.name, String(last(control))])) };
  }

  /** All screens, encoded for the address. */
  encode() {
    return encodeInputs(this.#byScreen, this.#private);
  }
}

/** The last layer or head of a model that a control can choose; null for other controls, or if the model is unknown. */
export function lastPart(control: Control, models: CourseModel[], chosen: string) {
  const model = models.find(({ name }) => name === chosen);
  return model && control.kind === "part" ? model.parts[control.part] - 1 : null;
}

function startValues({ controls }: ScreenRow): Record<string, string> {
  return Object.fromEntries(controls.map((control) => [control.name, control.default]));
}

/**
 * Inputs by screen, encoded for the address; private ones are replaced by a placeholder.
 * @param hidden by screen and control
 */
export function encodeInputs(byScreen: ReadonlyMap<string, Inputs>, hidden: ReadonlySet<string> = new Set()) {
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

/** Whether the text of a field is not a number, or is out of range. */
export function isInvalid(text: string, { low = -Infinity, high = Infinity }: { low?: number; high?: number } = {}) {
  const number = text.trim() ? Number(text.replace("−", "-")) : Number.NaN;
  return !(number >= low && number <= high);
}
