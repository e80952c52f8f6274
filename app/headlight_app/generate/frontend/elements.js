// The elements of generate.html that the page reads and writes.

import { elementsOf, find } from "../../ui/frontend/dom/elements.js";

/** @typedef {ReturnType<typeof findElements>} GenerateElements */

/** @param {HTMLElement} place */
export function findElements(place) {
  const { named, button, canvas, input, select, box } = elementsOf(place);
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
    speed: select("speed"),
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
