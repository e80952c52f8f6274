// What a learner has done, kept in this browser, and in a file on wish: screens that are done, where they were, and whether they are asked.

const KEY = "headlight-course";

/** @typedef {{ done: string[], last: string, showsAtOnce: boolean }} Kept screens are `chapter/screen` */

export class Progress {
  #storage;
  /** @type {Kept} */
  #kept;

  /** @param {Pick<Storage, "getItem" | "setItem">} storage */
  constructor(storage) {
    this.#storage = storage;
    this.#kept = read(storage);
  }

  /** The screen that was read last, "" before the first. */
  get last() {
    return this.#kept.last;
  }

  get showsAtOnce() {
    return this.#kept.showsAtOnce;
  }

  set showsAtOnce(showsAtOnce) {
    this.#keep({ showsAtOnce });
  }

  /** @param {string} path */
  isDone(path) {
    return this.#kept.done.includes(path);
  }

  /** @param {string} path */
  finish(path) {
    if (!this.isDone(path)) this.#keep({ done: [...this.#kept.done, path], last: path });
  }

  /** @param {string} path */
  visit(path) {
    this.#keep({ last: path });
  }

  /** Begins anew; whether questions come first stays as it was chosen. */
  forget() {
    this.#keep({ done: [], last: "" });
  }

  /** All of it, as a file holds it. */
  get text() {
    return JSON.stringify(this.#kept);
  }

  /** Adds what a file holds to what is done here; whether there was anything. @param {string} text */
  load(text) {
    const { done, last, showsAtOnce } = parse(text);
    if (!done.length) return false;
    this.#keep({ done: [...new Set([...this.#kept.done, ...done])], last: last || this.#kept.last, showsAtOnce });
    return true;
  }

  /** @param {Partial<Kept>} patch */
  #keep(patch) {
    this.#kept = { ...this.#kept, ...patch };
    try {
      this.#storage.setItem(KEY, JSON.stringify(this.#kept));
    } catch {
      // A browser that keeps nothing still shows the course; only the marks are gone after a reload.
    }
  }
}

/** @param {Pick<Storage, "getItem">} storage */
function read(storage) {
  try {
    return parse(storage.getItem(KEY) ?? "");
  } catch {
    return parse(""); // a browser that lets nobody read what it keeps
  }
}

/** What was kept; nothing, where the text is not what this module writes. @param {string} text @returns {Kept} */
function parse(text) {
  try {
    const { done, last, showsAtOnce } = JSON.parse(text);
    const paths = Array.isArray(done) ? done.filter((each) => typeof each === "string") : [];
    return { done: paths, last: String(last ?? ""), showsAtOnce: showsAtOnce === true };
  } catch {
    return { done: [], last: "", showsAtOnce: false };
  }
}
