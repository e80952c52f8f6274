// What was written, step by step: the line on the page, the answer to each of its beginnings, and the lines that were left.

/** @import { AnyRecord, Branch, ShownToken, TextToken, WrittenToken } from "./types.d.ts" */

const BRANCHES = 6; // that are offered
const RECORDS = 1_200; // answers kept in the browser

export class History {
  /** @type {readonly WrittenToken[]} */
  #written = [];
  /** Answers by the line that they continue, so that going back asks nothing. @type {Map<string, AnyRecord>} */
  #records = new Map();
  /** @type {Branch[]} */
  #branches = [];

  /** The tokens on the page. */
  get written() {
    return this.#written;
  }

  /** What comes after all that was written, or null where that is not known. */
  get newest() {
    return this.recordAt(this.#written.length);
  }

  /**
   * The answer before the token number `step` was written, or null.
   * @param {number} step
   */
  recordAt(step) {
    return this.#records.get(keyOf(this.#written.slice(0, step))) ?? null;
  }

  /**
   * @param {readonly WrittenToken[]} written
   * @param {AnyRecord} record what comes next
   */
  store(written, record) {
    this.#records.set(keyOf(written), record);
    const [oldest] = this.#records.keys();
    if (this.#records.size > RECORDS) this.#records.delete(oldest);
  }

  /**
   * The question is another one: answers to the old one are void, and handed back should the new one have none.
   * @param {readonly WrittenToken[]} written
   */
  restart(written) {
    const records = this.#records;
    this.#records = new Map();
    this.#written = written;
    return records;
  }

  /** @param {Map<string, AnyRecord>} records as `restart` handed them back */
  restore(records) {
    this.#records = records;
  }

  /**
   * What the tokens that were written read as.
   * @param {TextToken[]} tokens of the whole text
   */
  readPieces(tokens) {
    this.#written = this.#written.map((token) => ({ ...token, piece: tokens[token.place].piece }));
  }

  /**
   * Writes a token at a step; a line that it leads away from is offered again.
   * @param {number} step
   * @param {WrittenToken} token
   */
  take(step, { place, id, piece }) {
    this.#leave(step);
    this.#written = [...this.#written.slice(0, step), { place, id, piece }];
  }

  /** @param {number} length of what stays */
  truncate(length) {
    this.#leave(length);
    this.#written = this.#written.slice(0, length);
  }

  /** The newest lines that lead elsewhere than the one on the page. */
  get branches() {
    const current = keyOf(this.#written);
    const seen = new Set();
    this.#branches = this.#branches.filter(({ written }) => {
      const key = keyOf(written);
      const known = seen.has(key) || current === key || current.startsWith(`${key}.`);
      seen.add(key);
      return !known;
    });
    return this.#branches.slice(0, BRANCHES);
  }

  /** @param {Branch} branch */
  switchTo({ written }) {
    const old = this.#written;
    const from = written.findIndex((token, step) => token.id !== old[step]?.id || token.place !== old[step]?.place);
    if (old.length > from) this.#branches.push({ written: [...old], from });
    this.#written = written;
  }

  /** What was written makes no sense any more. */
  dropWritten() {
    this.#written = [];
  }

  forgetBranches() {
    this.#branches = [];
  }

  /**
   * Remembers the line before it is changed at a step, unless the new one only goes on.
   * @param {number} step
   */
  #leave(step) {
    if (step < this.#written.length) this.#branches = [{ written: [...this.#written], from: step }, ...this.#branches];
  }
}

/**
 * The tokens of the text with those that were written.
 * @param {TextToken[]} prompt
 * @param {readonly WrittenToken[]} written
 * @returns {ShownToken[]}
 */
export function shownTokens(prompt, written) {
  /** @type {ShownToken[]} */
  const tokens = prompt.map((token) => ({ ...token, step: null }));
  written.forEach(({ place, piece }, step) => {
    tokens[place] = { piece, special: false, step, gap: Boolean(tokens[place]?.gap) && !piece.startsWith(" ") };
  });
  return tokens;
}

/** @param {readonly WrittenToken[]} written */
function keyOf(written) {
  return written.map(({ place, id }) => `${place}-${id}`).join(".");
}
