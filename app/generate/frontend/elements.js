// The elements of generate.html that the page reads and writes.

import { find, findByTestId } from "../../../model/rendering/static/ui/elements.js";

/** @typedef {ReturnType<typeof findElements>} GenerateElements */

/** @param {HTMLElement} place */
export function findElements(place) {
  const named = (/** @type {string} */ name) => findByTestId(place, name);
  const button = (/** @type {string} */ name) => findByTestId(place, name, HTMLButtonElement);
  const canvas = (/** @type {string} */ name) => findByTestId(place, name, HTMLCanvasElement);
  const input = (/** @type {string} */ name) => findByTestId(place, name, HTMLInputElement);
  const box = (/** @type {string} */ name) => findByTestId(place, name, HTMLTextAreaElement);
  return {
    root: find(place, ".instrument"),
    caption: find(place, '[for="prompt"]'),
    text: box("prompt"),
    source: box("source"),
    sourceBox: find(place, ".source"),
    status: named("status"),
    examples: named("examples"),
    problem: named("problem"),
    notes: named("notes"),
    answer: find(place, ".answer"),
    back: button("back"),
    step: button("step"),
    play: button("play"),
    speed: findByTestId(place, "speed", HTMLSelectElement),
    restart: button("restart"),
    rate: named("rate"),
    page: named("page"),
    sourceText: named("source-text"),
    hint: named("hint"),
    branches: named("branches"),
    readout: named("reading"),
    nextTitle: named("next-title"),
    newest: named("newest"),
    nextWhere: named("next-where"),
    candidates: named("candidates"),
    sample: named("sample"),
    sampleStrip: find(place, '[data-testid="sample"] canvas', HTMLCanvasElement),
    sampleWords: find(place, '[data-testid="sample"] p'),
    temperature: input("temperature"),
    top_k: input("top-k"),
    top_p: input("top-p"),
    seed: input("seed"),
    newSeed: button("new-seed"),
    attention: find(place, ".attended"),
    attentionTitle: named("attention-title"),
    attentions: named("attentions"),
    blend: named("blend"),
    headTable: named("grid"),
    scale: find(place, ".scale", HTMLCanvasElement),
    stage: named("stage"),
    map: canvas("map"),
    cache: named("cache"),
    useCache: named("use-cache"),
    cacheWords: named("cache-words"),
    cacheStage: named("cache-stage"),
    cacheStrips: canvas("cache-strips"),
    times: canvas("times"),
    timesWords: named("times-words"),
  };
}
