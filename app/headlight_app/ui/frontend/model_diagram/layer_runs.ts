// Decides which layers of a model are drawn one by one, and which together.

const MOST_SINGLE = 8; // layers with a bar each

/**
 * The layers of each bar: if there are few, one each; else one each for the open layer and its neighbours, and the
 * others together.
 */
export function layerRuns(layers: number, open: number): [first: number, last: number][] {
  if (layers <= MOST_SINGLE) return Array.from({ length: layers }, (_, layer) => [layer, layer]);
  const runs: [number, number][] = [
    [0, open - 2],
    [open - 1, open - 1],
    [open, open],
    [open + 1, open + 1],
    [open + 2, layers - 1],
  ];
  return runs.filter(([first, last]) => first >= 0 && last < layers && first <= last);
}
