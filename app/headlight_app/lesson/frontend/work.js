// What a learner has done in a lesson, kept in this browser: their seed, model, answers, and where they are.

const KEY = "headlight-lesson-"; // before the lesson's name
const LARGEST_SEED = 1_000_000;

/**
 * `tries` are those of each step, `settled` the steps whose question is answered, `right` those answered rightly.
 * @typedef {{ version: number, seed: number, model: string, step: number, tries: string[][], settled: number[], right: number[] }} Kept
 */
/** @import { LessonRow } from "./types.js" */

export class Work {
  #storage;
  #lesson;
  /** @type {Kept} */
  #kept;

  /** @param {Pick<Storage, "getItem" | "setItem">} storage @param {LessonRow} lesson */
  constructor(storage, lesson) {
    this.#storage = storage;
    this.#lesson = lesson;
    this.#kept = read(storage, lesson) ?? begin(lesson);
    this.#keep({}); // the seed stays, though nothing is answered yet
  }

  get seed() {
    return this.#kept.seed;
  }

  get model() {
    return this.#kept.model;
  }

  get step() {
    return Math.min(this.#kept.step, this.#lesson.steps.length - 1);
  }

  /** The answers of each step, as they are handed in. */
  get answers() {
    return this.#lesson.steps.map((_, step) => this.triesOf(step));
  }

  /** How many questions are settled, and how many there are. */
  get settledCount() {
    const asked = this.#lesson.asks.filter(Boolean).length;
    return { settled: this.#kept.settled.length, right: this.#kept.right.length, asked };
  }

  /** @param {number} step */
  triesOf(step) {
    return this.#kept.tries[step] ?? [];
  }

  /** "right", "told", or "" while the question is open. @param {number} step */
  stateOf(step) {
    if (this.#kept.right.includes(step)) return "right";
    return this.#kept.settled.includes(step) ? "told" : "";
  }

  /** @param {number} step */
  go(step) {
    this.#keep({ step });
  }

  /** @param {number} step @param {string} answer */
  answer(step, answer) {
    const tries = this.answers;
    tries[step] = [...tries[step], answer];
    this.#keep({ tries });
  }

  /** A try that the server did not take is none. @param {number} step */
  takeBack(step) {
    const tries = this.answers;
    tries[step] = tries[step].slice(0, -1);
    this.#keep({ tries });
  }

  /** @param {number} step @param {boolean} isRight */
  settle(step, isRight) {
    const { settled, right } = this.#kept;
    if (!settled.includes(step)) this.#keep({ settled: [...settled, step], right: isRight ? [...right, step] : right });
  }

  /** Begins anew with another seed, and with a model where one is chosen. @param {string} [model] */
  restart(model = this.#kept.model) {
    this.#keep({ ...begin(this.#lesson), model });
  }

  /** @param {Partial<Kept>} patch */
  #keep(patch) {
    this.#kept = { ...this.#kept, ...patch };
    try {
      this.#storage.setItem(KEY + this.#lesson.name, JSON.stringify(this.#kept));
    } catch {
      // A browser that keeps nothing still shows the lesson; only a reload begins it anew.
    }
  }
}

/** @param {LessonRow} lesson @returns {Kept} */
function begin({ version, model, chooses_model: chooses }) {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] % LARGEST_SEED;
  return { version, seed, model: chooses ? model : "", step: 0, tries: [], settled: [], right: [] };
}

/**
 * What was kept of this version of a lesson; null where there is nothing, or nothing that this module has written.
 * @param {Pick<Storage, "getItem">} storage @param {LessonRow} lesson @returns {Kept | null}
 */
function read(storage, lesson) {
  try {
    const kept = JSON.parse(storage.getItem(KEY + lesson.name) ?? "null");
    const isFit = kept.version === lesson.version && [kept.seed, kept.step].every(Number.isInteger);
    const lists = [kept.tries, kept.settled, kept.right];
    return isFit && typeof kept.model === "string" && lists.every(Array.isArray) ? kept : null;
  } catch {
    return null; // or a browser that lets nobody read what it keeps
  }
}
