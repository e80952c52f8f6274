// The controls for the models of the two sides: A as in the sidebar, B by a list for each part; and suggested
// comparisons.

import { createElement, updateChildren } from "../../ui/frontend/dom/dom.ts";
import { defaultMask, parseMask } from "../../ui/frontend/mask_spec.ts";
import { createModelGroup } from "../../ui/frontend/model_options.ts";
import type { Catalog, Difference, MaskArgument, Options, Question, Variant, VariantField } from "./types.ts";

type Differ = (patch: Partial<Difference>) => void; // changes B's differences from A; undefined removes one

const SAME = "as A";
const TRAINED = "trained:"; // prefix of the encoding of another model

/** The model of a name, if available. */
function rowOf({ models }: Catalog, model: string) {
  return models.find(({ name }) => name === model);
}

/** Whether a model has an encoder that reads a text of its own. */
export function hasSource(catalog: Catalog, model: string) {
  return rowOf(catalog, model)?.has_source ?? false;
}

function trainedParts(catalog: Catalog, model: string): Partial<Variant> {
  return rowOf(catalog, model)?.trained ?? {};
}

/** The replaceable parts. */
function partsOf({ parts }: Catalog) {
  return Object.keys(parts) as VariantField[];
}

/** @param model its name */
function modelTitle(catalog: Catalog, model: string) {
  return rowOf(catalog, model)?.title ?? model;
}

/**
 * The names that distinguish the two sides: the models and their replaced parts, else the parts that differ; empty if
 * only the texts differ.
 */
export function sideNames(catalog: Catalog, [a, b]: [Question, Question]): [string, string] {
  const sides = [a, b];
  if (a.model !== b.model) {
    const [one, other] = sides.map((side) => {
      const title = modelTitle(catalog, side.model);
      const own = trainedParts(catalog, side.model);
      const exchanged = partsOf(catalog).filter((part) => side.variant[part] && side.variant[part] !== own[part]);
      return [title, ...exchanged.map((part) => titleOf(catalog, part, side.variant[part]))].join(" · ");
    });
    return [one, other];
  }
  const parts = sides.map((side) => partTitles(catalog, side));
  const [one, other] = parts.map((own, side) =>
    own.filter((title, part) => title !== parts[1 - side][part]).join(" · "),
  );
  return [one, other];
}

/** A side's choice for each part. */
function partTitles(catalog: Catalog, { model, variant }: Question) {
  const trained = trainedParts(catalog, model);
  return partsOf(catalog).map((part) => titleOf(catalog, part, variant[part] || trained[part] || ""));
}

/** Describes A's model in words. */
export function describeA(element: HTMLElement, catalog: Catalog, a: Question) {
  const words = [modelTitle(catalog, a.model), ...partTitles(catalog, a)];
  if (a.edits.length) words.push(`${a.edits.length} change${a.edits.length > 1 ? "s" : ""}`);
  updateChildren(
    element,
    createElement("span", "", words.join(" · ")),
    createElement("span", "quiet", " – as in the sidebar"),
  );
}

export function drawControlsB(
  element: HTMLElement,
  catalog: Catalog,
  questions: [Question, Question],
  difference: Difference,
  differ: Differ,
) {
  const b = questions[1];
  const parts = partsOf(catalog).map((part) => partControl(catalog, part, questions, difference.variant[part], differ));
  updateChildren(element, modelControl(catalog, b, difference, differ), ...parts, editsControl(b, difference, differ));
}

function titleOf({ parts, mask_arguments }: Catalog, part: VariantField, value: string) {
  const { kind, argument } = part === "masks" ? parseMask(value) : { kind: value, argument: "" };
  const title = parts[part].names[kind] || value;
  const short = part === "masks" && mask_arguments[kind]?.control === "number";
  return argument && short ? `${title} of ${argument}` : title;
}

function modelControl({ models }: Catalog, b: Question, difference: Difference, differ: Differ) {
  const chosen = difference.model === undefined ? SAME : b.model;
  const pick = (model: string) => differ({ model: model === SAME ? undefined : model });
  const select = createSelect("model", [[SAME, SAME]], chosen, pick);
  const kinds = [...new Set(models.map(({ kind }) => kind))];
  const groups = kinds.map((kind) => ({
    kind,
    models: models.filter((model) => model.kind === kind).map((model) => ({ ...model, enabled: true })),
  }));
  select.append(...groups.map(createModelGroup));
  select.value = chosen;
  return labelled("Model", select);
}

/**
 * B's options for a part, its choice, and whether that differs from A's. "As A" means the same wiring: a part that A
 * has from its training may differ in a model that was trained differently.
 * @param given B's replacement of A's part
 */
export function partOptions(
  catalog: Catalog,
  part: VariantField,
  [a, b]: [Question, Question],
  given: string | undefined,
): { options: Options; chosen: string; differs: boolean } {
  const trained = trainedParts(catalog, b.model)[part] ?? "";
  const partOfA = a.variant[part] || trainedParts(catalog, a.model)[part] || "";
  const own = `${titleOf(catalog, part, trained)} · as trained`;
  const kind = part === "masks" ? parseMask(given ?? "").kind : (given ?? "");
  // Masks are painted only on Explore; B has a painted mask only if it was A's.
  const isOffered = (value: string) =>
    value !== trained && (value === kind || part !== "masks" || catalog.mask_arguments[value]?.control !== "cells");
  const others = Object.entries(catalog.parts[part].names).filter(([value]) => isOffered(value));
  const inherits = b.model !== a.model && !a.variant[part]; // each side has what it was trained with
  const first: Options = inherits
    ? [[SAME, trained === partOfA ? SAME : own]]
    : [
        [SAME, SAME],
        ["", own],
      ];
  if (inherits && trained === partOfA) first.push(["", own]);
  const chosen = given === undefined || (kind === "" && first.length === 1) ? SAME : kind;
  return { options: [...first, ...others], chosen, differs: (b.variant[part] || trained) !== partOfA };
}

/** @param given B's replacement of A's part */
function partControl(
  catalog: Catalog,
  part: VariantField,
  questions: [Question, Question],
  given: string | undefined,
  differ: Differ,
) {
  const b = questions[1];
  const { options, chosen, differs } = partOptions(catalog, part, questions, given);
  const { kind, argument } = part === "masks" ? parseMask(given ?? "") : { kind: given ?? "", argument: "" };
  const pick = (value: string) => {
    const full =
      part === "masks"
        ? defaultMask(value, catalog.mask_arguments, b.variant.masks || trainedParts(catalog, b.model)[part] || "")
        : value;
    differ({ variant: { [part]: value === SAME ? undefined : full } });
  };
  const select =
    part === "positional_encoding"
      ? encodingSelect(catalog, questions, options, chosen, differs, differ)
      : createSelect(part, options, chosen, pick, differs);
  const label = labelled(catalog.parts[part].title, select);
  const row = part === "masks" ? catalog.mask_arguments[kind] : undefined;
  if (row?.control === "number") label.append(numberField(kind, row, argument, differ));
  return label;
}

/**
 * The positional encodings for B: by opening an otherwise identical model trained with one, or by rewiring its weights.
 */
function encodingSelect(
  catalog: Catalog,
  [a, b]: [Question, Question],
  options: Options,
  chosen: string,
  differs: boolean,
  differ: Differ,
) {
  const models = rowOf(catalog, b.model)?.trained_models ?? {};
  const select = createSelect("positional_encoding", [], chosen, () => {}, differs);
  const own = options.filter(([value]) => value === SAME || value === "");
  const rewired = options.filter((option) => !own.includes(option));
  const titles = Object.entries(catalog.parts.positional_encoding.names);
  const trained = titles.filter(([value]) => value in models);
  select.append(
    ...createOptions(own, chosen),
    ...createGroup(
      "Open the model trained with",
      createOptions(
        trained.map(([value, title]) => [TRAINED + value, title]),
        chosen,
      ),
    ),
    ...createGroup("Rewire these weights with", createOptions(rewired, chosen)),
  );
  select.onchange = () => {
    const { value } = select;
    if (!value.startsWith(TRAINED)) {
      return differ({ variant: { positional_encoding: value === SAME ? undefined : value } });
    }
    const model = models[value.slice(TRAINED.length)];
    differ({ model: model === a.model ? undefined : model, variant: { positional_encoding: "" } });
  };
  return select;
}

function createGroup(title: string, options: HTMLOptionElement[]) {
  const group = createElement("optgroup", "", options, { label: title });
  return options.length ? [group] : [];
}

function createOptions(options: Options, chosen: string) {
  return options.map(([value, title]) => new Option(title, value, value === chosen, value === chosen));
}

function numberField(kind: string, { title, limits: [min, max] }: MaskArgument, argument: string, differ: Differ) {
  const limits = { min: String(min), max: String(max) };
  const field = createElement("input", "", [], { type: "number", ...limits, value: argument, ariaLabel: title, title });
  field.onchange = () => {
    const number = Math.round(Number(field.value)) || min;
    differ({ variant: { masks: `${kind}:${Math.min(Math.max(number, min), max)}` } });
  };
  return field;
}

function editsControl(b: Question, difference: Difference, differ: Differ) {
  const options: Options = [
    [SAME, SAME],
    ["none", "none"],
  ];
  if (difference.edits?.length) options.push(["own", `${b.edits.length} of its own`]);
  const chosen = difference.edits === undefined ? SAME : difference.edits.length ? "own" : "none";
  const pick = (value: string) => {
    if (value !== "own") differ({ edits: value === "none" ? [] : undefined });
  };
  return labelled("Changes", createSelect("edits", options, chosen, pick));
}

function labelled(title: string, ...inner: HTMLElement[]) {
  return createElement("label", "", [createElement("span", "", title), ...inner]);
}

/** @param differs from A */
function createSelect(
  name: string,
  options: Options,
  chosen: string,
  pick: (value: string) => void,
  differs: boolean = chosen !== SAME,
) {
  const select = createElement("select", "", createOptions(options, chosen), { testid: `b-${name}` });
  select.classList.toggle("differs", differs);
  select.onchange = () => pick(select.value);
  return select;
}
