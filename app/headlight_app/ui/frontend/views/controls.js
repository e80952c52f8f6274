// Controls as views: options as buttons, as a select or as a slider, and a text to be typed.

import { fillSelect, setValue } from "../charts/charts.js";
import { activeElement, createElement, drawChoices, updateChildren } from "../dom/dom.js";

/** @import { ChoiceView, InputView, Picks, View } from "./types.js" */

/** @param {View} view @returns {view is ChoiceView | InputView} */
export function isControl(view) {
  return view.kind === "choice" || view.kind === "input";
}

/**
 * Draws a control into a place that may show it already: then whoever uses it is not interrupted.
 * @param {HTMLElement} place @param {ChoiceView | InputView} view @param {Picks} picks
 */
export function drawControl(place, view, picks) {
  if (!place.hasChildNodes()) place.append(...createParts(view));
  const control = /** @type {HTMLElement} */ (place.querySelector(".widget"));
  if (view.kind === "input") return drawInput(/** @type {HTMLInputElement} */ (control), view, picks);
  const choose = (/** @type {string | number} */ option) => picks.choose(view.picks[Number(option)]);
  const chosen = view.chosen ?? view.picks.findIndex((pick) => picks.isChosen(pick));
  const options = view.options.map((title, option) => /** @type {[string, string]} */ ([String(option), title]));
  if (view.form === "buttons") drawChoices(control, "option", options, String(chosen), choose);
  else if (view.form === "actions") drawActions(control, view, options, choose);
  else if (view.form === "select") fillSelect(/** @type {HTMLSelectElement} */ (control), options, chosen, choose);
  else drawSlider(/** @type {HTMLInputElement} */ (control), view.options, chosen, choose);
}

/** @param {ChoiceView | InputView} view @returns {HTMLElement[]} */
function createParts(view) {
  if (view.kind === "choice" && view.form === "actions") return [createElement("div", "widget actions")];
  if (view.kind === "choice" && view.form === "buttons") {
    const buttons = createElement("div", "widget choices");
    if (view.title) Object.assign(buttons, { role: "group", ariaLabel: view.title });
    return [buttons];
  }
  const control =
    view.kind === "choice" && view.form === "select"
      ? createElement("select", "widget")
      : createElement("input", "widget", [], { type: view.kind === "input" ? "text" : "range" });
  const isSlider = view.kind === "choice" && view.form === "slider";
  return [createElement("label", "", [view.title, control]), ...(isSlider ? [createElement("output")] : [])];
}

/**
 * An action without a pick cannot be done now, but keeps the focus.
 * @param {HTMLElement} place @param {ChoiceView} view @param {[string, string][]} options @param {(option: string) => void} choose
 */
function drawActions(place, { picks }, options, choose) {
  const buttons = options.map(([option, title], action) => {
    const isIdle = !Object.keys(picks[action]).length;
    const button = createElement("button", "small", title);
    if (isIdle) button.ariaDisabled = "true";
    else button.onclick = () => choose(option);
    return button;
  });
  updateChildren(place, ...buttons);
}

/** @param {HTMLInputElement} input @param {InputView} view @param {Picks} picks */
function drawInput(input, { field, text, placeholder, live }, picks) {
  Object.assign(input, { placeholder, spellcheck: false, autocomplete: "off" });
  input[live ? "oninput" : "onchange"] = () => picks.choose({ [field]: input.value });
  if (activeElement(input) !== input) setValue(input, text);
}

/** @param {HTMLInputElement} slider @param {string[]} options @param {number} chosen @param {(option: number) => void} choose */
function drawSlider(slider, options, chosen, choose) {
  const tell = (/** @type {number} */ option) => {
    slider.ariaValueText = options[option];
    const output = slider.parentElement?.nextElementSibling;
    if (output) output.textContent = options[option];
  };
  Object.assign(slider, { min: "0", max: String(options.length - 1), step: "1" });
  if (activeElement(slider) !== slider) setValue(slider, chosen);
  tell(Number(slider.value));
  slider.oninput = () => {
    tell(Number(slider.value));
    choose(Number(slider.value));
  };
}
