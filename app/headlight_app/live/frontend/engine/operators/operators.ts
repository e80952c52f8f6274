// All operators that a step may name; OPERATORS in model/headlight/live/steps.py has the same and `point`.

import { table } from "../../../../ui/frontend/dom/table.ts";
import type { Kernel } from "../kernel.ts";
import type { Value } from "../types.ts";
import { binaries, clamp, unaries, where } from "./elementwise.ts";
import * as indices from "./indices.ts";
import { products, solve_unit_lower } from "./products.ts";
import { cumsum, layer_norm, max, mean, min, rms_norm, softmax, sum, tril } from "./reductions.ts";
import { arange, cat, expand, flip, full, permute, reshape, roll, select, slice } from "./shapes.ts";

export type Operators = Readonly<Record<string, (...given: never[]) => Value>>;

export function operatorsOf(kernel: Kernel): Operators {
  return table({
    ...unaries,
    ...binaries,
    ...{ clamp, where },
    ...{ arange, cat, expand, flip, full, permute, reshape, roll, select, slice },
    ...{ cumsum, layer_norm, max, mean, min, rms_norm, softmax, sum, tril },
    ...indices,
    ...products(kernel),
    solve_unit_lower,
  });
}
