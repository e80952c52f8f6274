// Runs the steps of a program: plain functions on values, one after the other.

import type { Operators } from "./operators/operators.ts";
import { Refused } from "./refused.ts";
import type { Argument, Program, Step, Value } from "./types.ts";

/** What the steps of a program read besides each other. */
export interface Sources {
  readonly inputs: Readonly<Record<string, Value>>;
  readonly weights: readonly Value[];
  /** The number of tokens. */
  readonly length: number;
}

type Resolved = null | boolean | number | string | Value | Resolved[];

/** The result of a program; `point` gets each hook point with its value, and returns what later steps read. */
export function runProgram(
  program: Program,
  operators: Operators,
  sources: Sources,
  point: (path: string, value: Value) => Value,
): Value {
  const results: (Value | undefined)[] = [];
  const resolve = (argument: Argument): Resolved => {
    if (argument === null || typeof argument !== "object") return argument;
    if (isList(argument)) return argument.map(resolve);
    if ("step" in argument) return results[argument.step] as Value;
    if ("weight" in argument) return sources.weights[argument.weight] as Value;
    if ("length" in argument) return argument.length[0] * sources.length + argument.length[1];
    if ("input" in argument) return sources.inputs[argument.input] as Value;
    return Number(argument.number);
  };
  const last = lastUses(program);
  program.steps.forEach(([operator, ...given], number) => {
    const operation = operator === "point" ? point : operators[operator];
    if (!operation)
      throw new Refused(`This page does not know ${operator}, which its model needs. Make the file again.`);
    results[number] = operation(...(given.map(resolve) as [never, never]));
    for (const step of last[number] as number[]) results[step] = undefined;
  });
  return resolve(program.result) as Value;
}

/** The steps whose results no step after each one reads: their memory is free then. */
function lastUses({ steps, result }: Program): number[][] {
  const kept = new Set(stepsIn(result));
  const unused: number[][] = steps.map(() => []);
  for (let number = steps.length - 1; number >= 0; number--)
    for (const step of [number, ...stepsIn((steps[number] as Step).slice(1) as Argument[])])
      if (!kept.has(step)) {
        kept.add(step);
        unused[number]?.push(step);
      }
  return unused;
}

function stepsIn(argument: Argument): number[] {
  if (argument === null || typeof argument !== "object") return [];
  if (isList(argument)) return argument.flatMap(stepsIn);
  return "step" in argument ? [argument.step] : [];
}

const isList = (argument: Argument): argument is readonly Argument[] => Array.isArray(argument);
