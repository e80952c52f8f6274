// Steps to be put in order: buttons or the arrow keys up and down move a step.

import { announce } from "../../../ui/frontend/dom/announce.ts";
import { createElement } from "../../../ui/frontend/dom/dom.ts";
import { table } from "../../../ui/frontend/dom/table.ts";
import type { AskedQuestion } from "../contract.ts";
import type { Answer } from "../question.ts";

const STEPS = table({ ArrowUp: -1, ArrowDown: 1 } as Record<string, number>);

export function createOrder({ text, options, given }: AskedQuestion, answer: Answer): HTMLElement {
  const places = given.includes(",") ? given.split(",").map(Number) : options.map((_, place) => place);
  const list = createElement("ol", "steps", [], { ariaLabel: text });
  const button = createElement("button", "small", "Check", { onclick: () => answer(places.join()) });

  const move = (at: number, by: number) => {
    if (places[at + by] === undefined) return;
    [places[at], places[at + by]] = [places[at + by], places[at]];
    draw();
    const moved = list.children[at + by].querySelector(`button[data-by="${by}"]`);
    if (moved instanceof HTMLElement) moved.focus();
    announce(list, `${options[places[at + by]]}: ${at + by + 1} of ${places.length}`);
  };

  const createStep = (at: number) => {
    const name = options[places[at]];
    const buttons = [-1, 1].map((by) => {
      const title = `${name}: ${by < 0 ? "earlier" : "later"}`;
      const arrow = createElement("button", "small", by < 0 ? "↑" : "↓", { title, ariaLabel: title });
      arrow.dataset.by = String(by);
      arrow.ariaDisabled = String(places[at + by] === undefined);
      arrow.onclick = () => move(at, by);
      return arrow;
    });
    const item = createElement("li", "", [...buttons, createElement("span", "", name)]);
    item.onkeydown = (event) => {
      if (!STEPS[event.key]) return;
      event.preventDefault();
      move(at, STEPS[event.key]);
    };
    return item;
  };

  const draw = () => list.replaceChildren(...places.map((_, at) => createStep(at)));
  draw();
  return createElement("div", "scroll", [list, button]);
}
