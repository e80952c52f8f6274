// What a change has changed in a head, in words: each claim is checked on the numbers.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answerBefore,
  changeInWords,
  describeChange,
} from "../../../app/headlight_app/explore/frontend/prediction/what_changed.ts";
import { AS_TRAINED } from "../../../app/headlight_app/ui/frontend/contract.ts";
import { decodeWeight, encodeWeight } from "../../../app/headlight_app/ui/frontend/weight_code.ts";
import { createPage, GROUP } from "./page.js";

/** @import { Pattern } from "../../../app/headlight_app/explore/frontend/prediction/what_changed.ts" */
/** @import { ExploreAnswer } from "../../../app/headlight_app/explore/frontend/types.ts" */

const WORDS = ["The", " cat", " was", " on", " the", " mat"];

/** @param {number[][]} rows weights; NaN where the mask forbids the cell @param {string[]} [tokens] @returns {Pattern} */
const pattern = (rows, tokens = WORDS.slice(0, rows.length)) => ({
  queries: tokens,
  keys: tokens,
  weights: Float32Array.from(rows.flat(), (weight) => decodeWeight(encodeWeight(weight))),
  isSelf: true,
});

/** Equal weights on the cells that are seen. @param {number} size @param {(query: number, key: number) => boolean} sees */
function uniform(size, sees) {
  return Array.from({ length: size }, (_, query) => {
    const seen = Array.from({ length: size }, (_, key) => sees(query, key));
    return seen.map((isSeen) => (isSeen ? 1 / seen.filter(Boolean).length : Number.NaN));
  });
}

const CAUSAL = uniform(6, (query, key) => key <= query);
/** @param {number[][]} before @param {number[][]} after */
const said = (before, after) => describeChange(pattern(before), pattern(after), "H");

test("a mask that is taken away lets every token see the later ones, and one that is set hides them", () => {
  const all = uniform(6, () => true);
  assert.match(said(CAUSAL, all), /^Every token now sees the tokens after it\. H: /);
  assert.match(said(all, CAUSAL), /^No token sees the tokens after it any more\. H: /);
});

test("a row that is opened by hand says which tokens are seen", () => {
  const opened = uniform(6, (query, key) => key <= query || query === 2);
  assert.match(said(CAUSAL, opened), /^“was” now sees the 3 tokens after it\. H: /);
  assert.match(said(opened, CAUSAL), /^“was” no longer sees the 3 tokens after it\. H: /);
  const one = CAUSAL.map((row, query) => row.map((weight, key) => (query === 1 && key === 4 ? 0.5 : weight)));
  assert.match(said(CAUSAL, one), /^“cat” now sees “the”\. H: /);
  const narrow = uniform(6, (query, key) => key <= query && key > query - 4);
  assert.match(
    said(CAUSAL, narrow),
    /^“mat” no longer sees “The” and “cat”\. 1 more token sees others than before\. H: /,
  );
});

test("a stripe that goes or comes is named, with its shares", () => {
  /** @param {(query: number) => number} of */
  const looks = (of) =>
    CAUSAL.map((row, query) => row.map((_, key) => (key > query ? Number.NaN : Number(key === of(query)))));
  const [previous, self, first] = [looks((query) => Math.max(query - 1, 0)), looks((query) => query), looks(() => 0)];
  assert.equal(
    said(previous, CAUSAL),
    "H: the stripe beside the diagonal is weaker, 100 % of the attention before, 29 % now.",
  );
  assert.match(said(previous, self), /^H: the diagonal is new, 0 % .*, 100 % now\.$/);
  assert.match(said(self, previous), /^H: the diagonal is gone, 100 % .*, 0 % now\.$/);
  assert.match(said(first, CAUSAL), /^H: the column of the first token is weaker, 100 % .*, 24 % now\.$/);
});

test("a head that is off is said to be off, and equal pictures do not change", () => {
  const off = CAUSAL.map((row) => row.map((weight) => 0 * weight));
  assert.equal(said(CAUSAL, off), "H is off: it looks at nothing.");
  assert.equal(said(off, CAUSAL), "H is on again.");
  assert.equal(said(off, off), "");
  const offAndOpen = CAUSAL.map((row) => row.map(() => 0));
  assert.equal(said(off, offAndOpen), "Every token now sees the tokens after it.");
  assert.equal(said(CAUSAL, CAUSAL), "H: no weight changes by more than 0.01.");
});

/** A number from 0 to 1 from a seed. @param {number} seed */
function random(seed) {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Weights of a random head under a random mask. @param {() => number} next @param {number} size */
function randomHead(next, size) {
  const kind = Math.floor(3 * next());
  const power = 1 + 8 * next();
  return Array.from({ length: size }, (_, query) => {
    const raw = Array.from({ length: size }, (_, key) => {
      const isSeen = key === (kind === 2 ? 0 : query) || (kind === 0 ? key <= query : kind === 1 || next() < 0.6);
      return isSeen ? next() ** power + 1e-6 : Number.NaN;
    });
    const sum = raw.reduce((total, weight) => total + (weight || 0), 0);
    return raw.map((weight) => weight / sum);
  });
}

const CLOSE = 0.02; // percent are rounded, and weights are byte codes

/** @param {number[][]} rows @param {number} query */
const seenBy = (rows, query) => rows[query].flatMap((weight, key) => (Number.isNaN(weight) ? [] : [key]));

/** The claims of a sentence, each with whether it is true. @param {string} sentence @param {number[][]} before @param {number[][]} after @param {string[]} names @returns {boolean[]} */
function checked(sentence, before, after, names) {
  const place = (/** @type {string} */ token) => names.indexOf(token);
  const [size, claims] = [before.length, /** @type {boolean[]} */ ([])];
  const opened = before.map((_, query) => seenBy(after, query).filter((key) => !seenBy(before, query).includes(key)));
  const closed = before.map((_, query) => seenBy(before, query).filter((key) => !seenBy(after, query).includes(key)));
  for (const [, token, verb, list] of sentence.matchAll(/“(\w+)” (now sees|no longer sees) ([^.]*)\./g)) {
    const keys = (verb === "now sees" ? opened : closed)[place(token)];
    const named = [...list.matchAll(/“(\w+)”/g)].map(([, name]) => place(name));
    if (list.includes("itself")) named.push(place(token));
    const count = Number(list.match(/(\d+) tokens/)?.[1] ?? named.length);
    claims.push(count === keys.length && named.every((key) => keys.includes(key)));
    if (list.includes("after it")) claims.push(keys.every((key) => key > place(token)));
    if (list.includes("before it")) claims.push(keys.every((key) => key < place(token)));
    const others = Number(sentence.match(/(\d+) more token/)?.[1] ?? 0);
    claims.push(others === before.filter((_, query) => opened[query].length + closed[query].length).length - 1);
  }
  if (sentence.startsWith("Every token")) claims.push(opened.every((keys, query) => keys.length === size - query - 1));
  if (sentence.startsWith("No token")) claims.push(after.every((_, query) => seenBy(after, query).at(-1) === query));
  const cell = sentence.match(/“(\w+)” gives “(\w+)” (\d+) % of its attention, before (\d+) %/);
  if (cell) {
    const [query, key] = [place(cell[1]), place(cell[2])];
    claims.push(Math.abs((after[query][key] || 0) - Number(cell[3]) / 100) < CLOSE);
    claims.push(Math.abs((before[query][key] || 0) - Number(cell[4]) / 100) < CLOSE);
  }
  const stripe = sentence.match(/H: the (.*?) is (\w+), (\d+) % .*, (\d+) % now/);
  if (stripe) {
    const offset = stripe[1].includes("above") ? 1 : stripe[1].includes("beside") ? -1 : 0;
    const mean = (/** @type {number[][]} */ rows) => {
      const cells = rows.flatMap((row, query) => {
        if (stripe[1] === "column of the first token") return query > 1 ? [row[0] || 0] : [];
        return query >= (offset > 0 ? 0 : 1) && query + offset < size ? [row[query + offset] || 0] : [];
      });
      return cells.reduce((sum, weight) => sum + weight, 0) / cells.length;
    };
    const [was, now] = [mean(before), mean(after)];
    claims.push(Math.abs(was - Number(stripe[3]) / 100) < CLOSE, Math.abs(now - Number(stripe[4]) / 100) < CLOSE);
    claims.push(["is gone", "is weaker"].includes(`is ${stripe[2]}`) ? now < was : now > was);
    if (stripe[2] === "gone") claims.push(was > 0.28 && now < 0.12);
    if (stripe[2] === "new") claims.push(now > 0.28 && was < 0.12);
  }
  const least = sentence.match(/no weight changes by more than (\d+\.\d+)/);
  if (least)
    claims.push(
      before.every((row, query) =>
        row.every((was, key) => Math.abs((after[query][key] || 0) - (was || 0)) <= Number(least[1])),
      ),
    );
  return claims;
}

test("each claim about random heads under random masks is true", () => {
  let seen = "";
  for (let seed = 0; seed < 2000; seed++) {
    const next = random(seed);
    const size = 2 + Math.floor(6 * next());
    const names = Array.from({ length: size }, (_, place) => `t${place}`);
    const before = randomHead(next, size);
    const own =
      seed % 3 ? randomHead(next, size) : before.map((row) => row.map((weight) => weight * (0.9 + 0.1 * next())));
    const after = seed % 5 ? own : before.map((row, query) => (query === size - 1 ? own[query] : row));
    const sentence = describeChange(pattern(before, names), pattern(after, names), "H");
    const claims = checked(sentence, before, after, names);
    assert.ok(claims.length && claims.every(Boolean), `${seed}: ${sentence} ${claims}`);
    seen += sentence;
  }
  for (const kind of ["gone", "new", "weaker", "stronger", "gives", "no weight", "itself", "Every", "after it"])
    assert.ok(seen.includes(kind), kind);
});

test("a change of the text is not compared, and another query keeps what was compared", () => {
  const question = { model: "m", text: "a", edits: [], masked_positions: [] };
  const answer = (/** @type {object} */ changes) =>
    /** @type {ExploreAnswer} */ (/** @type {unknown} */ ({ question: { ...question, ...changes } }));
  const [one, off, typed] = [answer({}), answer({ edits: ["x"] }), answer({ text: "ab" })];
  assert.equal(answerBefore(null, one, null, false), null);
  assert.equal(answerBefore(one, off, null, false), one);
  assert.equal(answerBefore(off, answer({ edits: ["x"] }), one, false), one);
  assert.equal(answerBefore(one, typed, one, false), null);
  assert.equal(answerBefore(off, answer({ edits: ["y"] }), one, true), one, "the same slider");
  assert.equal(answerBefore(off, answer({ edits: ["x"], masked_positions: [1] }), one, true), off);
});

test("equal names have their positions, and what looks like another token is no space", () => {
  const tokens = ["a", " ", " a", "\n"];
  const before = uniform(4, () => true);
  const after = before.map((row, query) => (query === 3 ? [0, 1, 0, 0] : row));
  assert.equal(
    describeChange(pattern(before, tokens), pattern(after, tokens), "H"),
    "H: “¶” gives “·” 100 % of its attention, before 25 %.",
  );
  const other = before.map((row, query) => (query === 2 ? [1, 0, 0, 0] : row));
  assert.match(describeChange(pattern(before, tokens), pattern(other, tokens), "H"), /“a” \(2\) gives “a” \(0\) 100 %/);
});

test("two weights are no stripe", () => {
  const before = uniform(3, () => true);
  const after = before.map((row, query) => row.map((_, key) => Number(query === key)));
  assert.match(said(before, after), /^H: “The” gives “The” 100 %/);
});

/** A page whose model is changed: each answer has the pattern of head 1 of layer 0. */
function changedPage() {
  const { page, state } = createPage({ layer: 0, head: 1 });
  const size = GROUP.layers * GROUP.heads * 9;
  const answer = (/** @type {number[][]} */ rows) => {
    const bytes = new Uint8Array(size).fill(1);
    bytes.set(rows.flat().map(encodeWeight), 9);
    state.receive({ ...state.answer, bytes, question: { ...state.answer.question, ...state.question, text: "A" } });
    return changeInWords(page);
  };
  return { page, state, answer };
}

/** @param {number[]} shares of the diagonal */
const diagonals = (shares) =>
  shares.map((share) => [0, 1, 2].map((query) => [0, 1, 2].map((key) => (query === key ? share : (1 - share) / 2))));

test("a slider that is moved is told from its beginning on, and the next one from there", () => {
  const { page, state, answer } = changedPage();
  const [none, some, most, all] = diagonals([0, 0.3, 0.6, 0.9]);
  assert.equal(answer(none), "");
  state.history.beginStroke();
  page.change({ edits: ["decoder.0.self.scores=scale:2"] });
  assert.match(answer(some), /30 % of its attention, before 0 %/);
  page.change({ edits: ["decoder.0.self.scores=scale:3"] });
  assert.match(answer(most), /60 % of its attention, before 0 %/);
  state.history.endStroke();
  assert.match(answer(most), /60 % of its attention, before 0 %/, "the same model, another query");
  page.change({ edits: ["decoder.0.self.scores=scale:4"] });
  assert.match(answer(all), /90 % of its attention, before 60 %/);
  page.change({ masked_positions: [1] });
  assert.match(answer(some), /30 % of its attention, before 90 %/);
});

test("nothing is said where an edit of the head's own weights may leave 0 to 1", () => {
  const [none, all] = diagonals([0, 1]);
  for (const [edit, isSaid] of /** @type {const} */ ([
    ["decoder.0.self.weights[1]=scale:3", false],
    ["decoder.*.self.weights[0:2]=add:1", false],
    ["decoder.0.self.weights=set:-1", false],
    ["decoder.0.self.weights[1]=from:B", false],
    ["decoder.0.self.weights[1, 0]=set:0", true],
    ["decoder.0.self.weights[2]=scale:3", true],
    ["decoder.0.self.weights[2:]=scale:3", true],
    ["decoder.1.self.weights=scale:3", true],
    ["encoder.0.self.weights=scale:3", true],
    ["decoder.0.self.scores=scale:3", true],
  ])) {
    const { page, answer } = changedPage();
    answer(none);
    page.change({ edits: [edit] });
    assert.equal(answer(all) !== "", isSaid, edit);
    page.change({ variant: { ...AS_TRAINED, masks: "none" }, edits: [] });
    assert.equal(answer(none) !== "", isSaid, `${edit} before`);
  }
});

test("the weights are compared once for each answer and head", () => {
  const { page, state, answer } = changedPage();
  const [none, all] = diagonals([0, 1]);
  answer(none);
  page.change({ edits: ["decoder.0.self.scores=scale:3"] });
  const words = answer(all);
  state.answer.bytes.fill(0);
  assert.equal(changeInWords(page), words);
  page.change({ head: 0 });
  assert.notEqual(changeInWords(page), words);
});
