// A learner's work on a lesson, stored in this browser: seed, model, answers, and current step.

const KEY = "headlight-lesson-"; // prefix of the lesson's name
const LARGEST_SEED = 1_000_000;

/**
 * `tries` are the attempts of each step, `settled` the steps whose question is settled, `right` those answered right.
 */
type Kept = {
  version: number;
  seed: number;
  model: string;
  step: number;
  tries: string[][];
  settled: number[];
  right: number[];
};

import type { LessonRow } from "./types.ts";

export class Work {
  #storage;
  #lesson;
  #kept: Kept;
  #isOwn;

  constructor(storage: Pick<Storage, "getItem" | "setItem">, lesson: LessonRow, isOwn: boolean = true) {
    this.#storage = storage;
    this.#lesson = lesson;
    this.#isOwn = isOwn;
    this.#kept = read(storage, lesson) ?? begin(lesson);
    this.#keep({}); // stores the seed before the first answer
  }

  /** Whether this browser keeps it. */
  get isOwn() {
    return this.#isOwn;
  }

  get seed() {
    return this.#kept.seed;
  }

  get model() {
    return this.#kept.model;
  }

  get step() {
    return Math.max(0, Math.min(this.#kept.step, this.#lesson.steps.length - 1));
  }

  /** All of it, as `shownWork` reads it in another browser. */
  get encoded() {
    return JSON.stringify(this.#kept);
  }

  /** The answers of each step, as handed in. */
  get answers() {
    return this.#lesson.steps.map((_, step) => this.triesOf(step));
  }

  /** The numbers of settled and right questions, and of all questions. */
  get settledCount() {
    const asked = this.#lesson.asks.filter(Boolean).length;
    return { settled: this.#kept.settled.length, right: this.#kept.right.length, asked };
  }

  triesOf(step: number) {
    return this.#kept.tries[step] ?? [];
  }

  /** "right", "told", or "" while the question is open. */
  stateOf(step: number) {
    if (this.#kept.right.includes(step)) return "right";
    return this.#kept.settled.includes(step) ? "told" : "";
  }

  go(step: number) {
    this.#keep({ step });
  }

  answer(step: number, answer: string) {
    const tries = this.answers;
    tries[step] = [...tries[step], answer];
    this.#keep({ tries });
  }

  /** Removes the last attempt, which the server did not receive. */
  takeBack(step: number) {
    const tries = this.answers;
    tries[step] = tries[step].slice(0, -1);
    this.#keep({ tries });
  }

  settle(step: number, isRight: boolean) {
    const { settled, right } = this.#kept;
    if (!settled.includes(step)) this.#keep({ settled: [...settled, step], right: isRight ? [...right, step] : right });
  }

  /** Restarts with another seed, and with a model if one is chosen. */
  restart(model: string = this.#kept.model) {
    this.#keep({ ...begin(this.#lesson), model });
  }

  #keep(patch: Partial<Kept>) {
    this.#kept = { ...this.#kept, ...patch };
    try {
      this.#storage.setItem(KEY + this.#lesson.name, JSON.stringify(this.#kept));
    } catch {
      // Without storage the lesson still works, but a reload restarts it.
    }
  }
}

/** The work of another browser, which this one does not keep. */
export function shownWork(encoded: string, lesson: LessonRow) {
  return new Work({ getItem: () => encoded, setItem: () => {} }, lesson, false);
}

function begin({ version, model, chooses_model: chooses }: LessonRow): Kept {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] % LARGEST_SEED;
  return { version, seed, model: chooses ? model : "", step: 0, tries: [], settled: [], right: [] };
}

/** The stored work on this version of a lesson; null if there is none, or if it is not in this module's format. */
function read(storage: Pick<Storage, "getItem">, lesson: LessonRow): Kept | null {
  try {
    const kept = JSON.parse(storage.getItem(KEY + lesson.name) ?? "null");
    const isFit = kept.version === lesson.version && [kept.seed, kept.step].every(Number.isInteger);
    const lists = [kept.tries, ...kept.tries.filter(Boolean), kept.settled, kept.right];
    return isFit && typeof kept.model === "string" && lists.every(Array.isArray) ? kept : null;
  } catch {
    return null; // or the browser denies access to its storage
  }
}
