// The changes of a question, applied while the engine runs, as InterventionHook in Python.

import { Refused } from "../../engine/refused.ts";
import type { Edit, Value } from "../../engine/types.ts";
import type { ModelFacts } from "../types.ts";
import { applyEdit } from "./operations.ts";
import { canBeNormalized, hookPointOf, isOnStream } from "./paths.ts";
import { editText, type Intervention, matches } from "./syntax.ts";

export interface Changes {
  readonly edit: Edit;
  /** Refuses an edit that no value of the run had. */
  requireAllApplied(): void;
}

/** `cells` are the mask of every head, [query key], row by row; null leaves all masks as trained. */
export function changesOf(edits: readonly Intervention[], cells: Float32Array | null, facts: ModelFacts): Changes {
  const allowed = new Map<string, Value>();
  const applied = new Set<Intervention>();
  const paths: string[] = [];
  const edit = (path: string, value: Value) => {
    const point = hookPointOf(path);
    const attention = path.slice(0, -point.length);
    const isMask = point === "mask";
    paths.push(path);
    if (isMask && cells) for (let at = 0; at < value.numbers.length; at += cells.length) value.numbers.set(cells, at);
    for (const each of edits)
      if (matches(each, path)) {
        applyEdit(each, path, value, allowed.get(attention) ?? null, facts);
        applied.add(each);
      }
    if (isMask) allowed.set(attention, value);
    // Logits are computed only if something reads them.
    if (edits.length && isOnStream(path) && (path !== "logits" || edits.some((each) => matches(each, path))))
      requireFinite(path, value);
  };
  const requireAllApplied = () => {
    const idle = edits.find((each) => !applied.has(each));
    if (idle)
      throw new Refused(
        `The edit ${editText(idle, facts)} changes nothing: this model has no value ${idle.path}. ` +
          describePaths(paths, hookPointOf(idle.path)),
      );
  };
  return { edit, requireAllApplied };
}

function requireFinite(path: string, value: Value) {
  if (!canBeNormalized(value))
    throw new Refused(
      `These edits make numbers too large for the model to compute with, first at ${path}; use smaller ones.`,
    );
}

/** A sentence on the paths of a hook point in this model. */
function describePaths(paths: readonly string[], point: string): string {
  const last = new Map<string, number>();
  for (const path of paths.filter((each) => hookPointOf(each) === point)) {
    const form = path.replace(/\.\d+\./, ".*.");
    last.set(form, Math.max(last.get(form) ?? -1, Number(/\.(\d+)\./.exec(path)?.[1] ?? -1)));
  }
  if (!last.size) return "A path has the form STACK.LAYER.PART.HOOK_POINT, as in decoder.0.self.weights.";
  const forms = [...last].sort().map(([form, layer]) => form + (layer >= 0 ? ` (layers 0 to ${layer})` : ""));
  return `Its ${point} are at ${forms.join(", ")}.`;
}
