// The controls for the models of the two sides: A as in the sidebar, B by a list for each part; and suggested
// comparisons.

import { createElement, updateChildren } from "../../ui/frontend/dom/dom.js";
import { defaultMask, parseMask } from "../../ui/frontend/mask_spec.js";
import { createModelGroup } from "../../ui/frontend/model_options.js";

/** @import { Catalog, Difference, MaskArgument, Options, Question, Variant, VariantField } from "./types.d.ts" */
/** @typedef {(patch: Partial<Difference>) => void} Differ changes B's differences from A; undefined removes one */

const SAME = "as A";
const TRAINED = "trained:"; // prefix of the encoding of another model

/** The model of a name, if available. @param {Catalog} catalog @param {string} model */
function rowOf({ models }, model) {
  return models.find(({ name }) => name === model);
}

/** Whether a model has an encoder that reads a text of its own. @param {Catalog} catalog @param {string} model */
export function hasSource(catalog, model) {
  return rowOf(catalog, model)?.has_source ?? false;
}

/** @param {Catalog} catalog @param {string} model @returns {Partial<Variant>} */
function trainedParts(catalog, model) {
  return rowOf(catalog, model)?.trained ?? {};
}

/** The replaceable parts. @param {Catalog} catalog */
function partsOf({ parts }) {
  return /** @type {VariantField[]} */ (Object.keys(parts));
}

/** @param {Catalog} catalog @param {string} model its name */
function modelTitle(catalog, model) {
  return rowOf(catalog, model)?.title ?? model;
}

/**
 * The names that distinguish the two sides: the models and their replaced parts, else the parts that differ; empty if
 * only the texts differ.
 * @param {Catalog} catalog @param {[Question, Question]} questions @returns {[string, string]}
 */
export function sideNames(catalog, [a, b]) {
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

/** A side's choice for each part. @param {Catalog} catalog @param {Question} question */
function partTitles(catalog, { model, variant }) {
  const trained = trainedParts(catalog, model);
  return partsOf(catalog).map((part) => titleOf(catalog, part, variant[part] || trained[part] || ""));
}

/** Describes A's model in words. @param {HTMLElement} element @param {Catalog} catalog @param {Question} a */
export function describeA(element, catalog, a) {
  const words = [modelTitle(catalog, a.model), ...partTitles(catalog, a)];
  if (a.edits.length) words.push(`${a.edits.length} change${a.edits.length > 1 ? "s" : ""}`);
  updateChildren(
    element,
    createElement("span", "", words.join(" · ")),
    createElement("span", "quiet", " – as in the sidebar"),
  );
}

/**
 * @param {HTMLElement} element @param {Catalog} catalog @param {[Question, Question]} questions
 * @param {Difference} difference @param {Differ} differ
 */
export function drawControlsB(element, catalog, questions, difference, differ) {
  const b = questions[1];
  const parts = partsOf(catalog).map((part) => partControl(catalog, part, questions, difference.variant[part], differ));
  updateChildren(element, modelControl(catalog, b, difference, differ), ...parts, editsControl(b, difference, differ));
}

/** @param {Catalog} catalog @param {VariantField} part @param {string} value */
function titleOf({ parts, mask_arguments }, part, value) {
  const { kind, argument } = part === "masks" ? parseMask(value) : { kind: value, argument: "" };
  const title = parts[part].names[kind] || value;
  const short = part === "masks" && mask_arguments[kind]?.control === "number";
  return argument && short ? `${title} of ${argument}` : title;
}

/** @param {Catalog} catalog @param {Question} b @param {Difference} difference @param {Differ} differ */
function modelControl({ models }, b, difference, differ) {
  const chosen = difference.model === undefined ? SAME : b.model;
  const pick = (/** @type {string} */ model) => differ({ model: model === SAME ? undefined : model });
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
 * @param {Catalog} catalog @param {VariantField} part @param {[Question, Question]} questions
 * @param {string | undefined} given B's replacement of A's part
 * @returns {{ options: Options, chosen: string, differs: boolean }}
 */
export function partOptions(catalog, part, [a, b], given) {
  const trained = trainedParts(catalog, b.model)[part] ?? "";
  const partOfA = a.variant[part] || trainedParts(catalog, a.model)[part] || "";
  const own = `${titleOf(catalog, part, trained)} · as trained`;
  const kind = part === "masks" ? parseMask(given ?? "").kind : (given ?? "");
  // Masks are painted only on Explore; B has a painted mask only if it was A's.
  const isOffered = (/** @type {string} */ value) =>
    value !== trained && (value === kind || part !== "masks" || catalog.mask_arguments[value]?.control !== "cells");
  const others = Object.entries(catalog.parts[part].names).filter(([value]) => isOffered(value));
  const inherits = b.model !== a.model && !a.variant[part]; // each side has what it was trained with
  /** @type {Options} */
  const first = inherits
    ? [[SAME, trained === partOfA ? SAME : own]]
    : [
        [SAME, SAME],
        ["", own],
      ];
  if (inherits && trained === partOfA) first.push(["", own]);
  const chosen = given === undefined || (kind === "" && first.length === 1) ? SAME : kind;
  return { options: [...first, ...others], chosen, differs: (b.variant[part] || trained) !== partOfA };
}

/**
 * @param {Catalog} catalog @param {VariantField} part @param {[Question, Question]} questions
 * @param {string | undefined} given B's replacement of A's part @param {Differ} differ
 */
function partControl(catalog, part, questions, given, differ) {
  const b = questions[1];
  const { options, chosen, differs } = partOptions(catalog, part, questions, given);
  const { kind, argument } = part === "masks" ? parseMask(given ?? "") : { kind: given ?? "", argument: "" };
  const pick = (/** @type {string} */ value) => {
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
 * @param {Catalog} catalog @param {[Question, Question]} questions @param {Options} options @param {string} chosen
 * @param {boolean} differs @param {Differ} differ
 */
function encodingSelect(catalog, [a, b], options, chosen, differs, differ) {
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

/** @param {string} title @param {HTMLOptionElement[]} options */
function createGroup(title, options) {
  const group = createElement("optgroup", "", options, { label: title });
  return options.length ? [group] : [];
}

/** @param {Options} options @param {string} chosen */
function createOptions(options, chosen) {
  return options.map(([value, title]) => new Option(title, value, value === chosen, value === chosen));
}

/** @param {string} kind @param {MaskArgument} row @param {string} argument @param {Differ} differ */
function numberField(kind, { title, limits: [min, max] }, argument, differ) {
  const limits = { min: String(min), max: String(max) };
  const field = createElement("input", "", [], { type: "number", ...limits, value: argument, ariaLabel: title, title });
  field.onchange = () => {
    const number = Math.round(Number(field.value)) || min;
    differ({ variant: { masks: `${kind}:${Math.min(Math.max(number, min), max)}` } });
  };
  return field;
}

/** @param {Question} b @param {Difference} difference @param {Differ} differ */
function editsControl(b, difference, differ) {
  /** @type {Options} */
  const options = [
    [SAME, SAME],
    ["none", "none"],
  ];
  if (difference.edits?.length) options.push(["own", `${b.edits.length} of its own`]);
  const chosen = difference.edits === undefined ? SAME : difference.edits.length ? "own" : "none";
  const pick = (/** @type {string} */ value) => {
    if (value !== "own") differ({ edits: value === "none" ? [] : undefined });
  };
  return labelled("Changes", createSelect("edits", options, chosen, pick));
}

/** @param {string} title @param {...HTMLElement} inner */
function labelled(title, ...inner) {
  return createElement("label", "", [createElement("span", "", title), ...inner]);
}

/**
 * @param {string} name @param {Options} options @param {string} chosen @param {(value: string) => void} pick
 * @param {boolean} [differs] from A
 */
function createSelect(name, options, chosen, pick, differs = chosen !== SAME) {
  const select = createElement("select", "", createOptions(options, chosen), { testid: `b-${name}` });
  select.classList.toggle("differs", differs);
  select.onchange = () => pick(select.value);
  return select;
}
