// Byte-pair encoding: the neighbours with the earliest merge are merged until no pair has one.

import { byteParts, type Ids, type Model, type Part, unknownId } from "./pieces.ts";
import type { PairsFile } from "./types.ts";

/** A symbol of a piece: its neighbours are places in the list of symbols, -1 at an end. */
interface PieceSymbol {
  id: number;
  readonly start: number;
  end: number;
  previous: number;
  next: number;
  isMerged: boolean; // into the one before it
}

interface Merge {
  readonly rank: number;
  readonly id: number;
}

interface Candidate extends Merge {
  readonly place: number;
}

type Merges = (first: number, second: number) => Merge | undefined;

export function bytePairs(file: PairsFile, ids: Ids, tokens: readonly (string | null)[]): Model {
  const merges = mergesOf(file, ids, tokens);
  return (characters) => {
    const text = characters.join("");
    const whole = file.ignoresMerges ? ids.get(text) : undefined;
    if (whole !== undefined) return [{ id: whole, text, start: 0, end: characters.length }];
    const symbols = linked(symbolsOf(characters, file, ids));
    mergeAll(symbols, merges);
    return symbols
      .filter((symbol) => !symbol.isMerged)
      .map(({ id, start, end }) => ({ id, text: tokens[id] ?? "", start, end }));
  };
}

/** The rank and the id of the merge of two ids. */
function mergesOf(file: PairsFile, ids: Ids, tokens: readonly (string | null)[]): Merges {
  const found = new Map<number, Merge>();
  const count = tokens.length;
  for (let rank = 0; 2 * rank < file.merges.length; rank++) {
    const [first, second] = [file.merges[2 * rank], file.merges[2 * rank + 1]];
    const id = ids.get((tokens[first] ?? "") + (tokens[second] ?? "").slice(file.prefix.length));
    if (id !== undefined) found.set(first * count + second, { rank, id });
  }
  return (first, second) => found.get(first * count + second);
}

/** The symbols of single characters: tokens, the bytes of a character, or the unknown token. */
function symbolsOf(characters: readonly string[], file: PairsFile, ids: Ids): Part[] {
  const found: Part[] = [];
  let unknown = -1; // where the unknown characters before this one begin
  for (const [start, character] of characters.entries()) {
    const end = start + 1;
    const text = (start > 0 ? file.prefix : "") + character + (end === characters.length ? file.suffix : "");
    const id = ids.get(text);
    const known = id === undefined ? byteParts(text, start, end, file, ids) : [{ id, text, start, end }];
    if (known.length > 0) unknown = -1;
    else if (file.unknown !== null) {
      if (unknown >= 0 && file.fusesUnknown) found.pop();
      else unknown = start;
      found.push({ id: unknownId(ids, file.unknown), text, start: unknown, end });
    }
    found.push(...known);
  }
  return found;
}

function linked(parts: readonly Part[]): PieceSymbol[] {
  const last = parts.length - 1;
  return parts.map(({ id, start, end }, at) => {
    return { id, start, end, previous: at - 1, next: at < last ? at + 1 : -1, isMerged: false };
  });
}

function mergeAll(symbols: PieceSymbol[], merges: Merges): void {
  const queue: Candidate[] = [];
  const offer = (place: number) => {
    const symbol = symbols[place];
    const merge = symbol && symbol.next >= 0 ? merges(symbol.id, symbols[symbol.next].id) : undefined;
    if (merge) push(queue, { ...merge, place });
  };
  symbols.forEach((_, place) => {
    offer(place);
  });
  for (let top = pop(queue); top; top = pop(queue)) {
    const symbol = symbols[top.place];
    const right = symbols[symbol.next];
    if (symbol.isMerged || !right || merges(symbol.id, right.id)?.id !== top.id) continue; // out of date
    symbol.id = top.id;
    symbol.end = right.end;
    symbol.next = right.next;
    right.isMerged = true;
    if (right.next >= 0) symbols[right.next].previous = top.place;
    offer(symbol.previous);
    offer(top.place);
  }
}

// A heap: every candidate comes before those at twice its place, plus 1 and 2.

const comesBefore = (first: Candidate, second: Candidate) =>
  first.rank < second.rank || (first.rank === second.rank && first.place < second.place);

function push(heap: Candidate[], item: Candidate): void {
  let at = heap.push(item) - 1;
  for (let parent = (at - 1) >> 1; at > 0 && comesBefore(item, heap[parent]); parent = (at - 1) >> 1) {
    heap[at] = heap[parent];
    at = parent;
  }
  heap[at] = item;
}

function pop(heap: Candidate[]): Candidate | undefined {
  const top = heap[0];
  const item = heap.pop();
  if (item === undefined || heap.length === 0) return item;
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && comesBefore(heap[child + 1], heap[child])) child += 1;
    if (!comesBefore(heap[child], item)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
  return top;
}
