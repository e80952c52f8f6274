// The elements of compare.html that the page reads and writes.

import { elementsOf, find } from "../../ui/frontend/dom/elements.ts";

export type CompareElements = ReturnType<typeof findElements>;

export function findElements(place: HTMLElement) {
  const { named, canvas, box, input } = elementsOf(place);
  return {
    root: find(place, ".instrument"),
    texts: [box("text-a"), box("text-b")],
    names: [".a", ".b"].map((side) => [...place.querySelectorAll(`${side} .side-name`)]),
    sources: [box("source-a"), box("source-b")],
    status: named("status"),
    sameText: named("as-a"),
    presets: named("presets"),
    variantA: named("variant-a"),
    variantB: named("variant-b"),
    problem: named("problem"),
    notes: named("notes"),
    answer: find(place, ".answer"),
    strips: [named("tokens-a"), named("tokens-b")],
    attentions: named("attentions"),
    headsHint: named("heads-hint"),
    swap: named("swap"),
    headTables: [named("grid-a"), named("grid-b")],
    distances: named("apart"),
    ranked: named("ranked"),
    differenceScale: canvas("difference-scale"),
    maps: named("maps"),
    headTitle: named("head-title"),
    alignment: named("align"),
    linked: input("linked"),
    patchHead: find(place, '[data-testid="patch-head"]', HTMLButtonElement),
    patchToken: find(place, '[data-testid="patch-token"]', HTMLButtonElement),
    patchHint: named("patch-hint"),
    patchesMade: named("patches-made"),
    mapTitles: [named("map-title-a"), named("map-title-b")],
    switches: [named("switch-a"), named("switch-b")],
    sideMaps: [canvas("map-a"), canvas("map-b")],
    differenceMap: canvas("map-d"),
    low: named("low"),
    high: named("high"),
    unmatched: named("left-out"),
    readout: named("reading"),
    predictions: named("predictions"),
  };
}
