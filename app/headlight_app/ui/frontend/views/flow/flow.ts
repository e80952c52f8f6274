// Shares that flow from row to row of a grid of tokens, down to one of the last row.

import { beginSheet, PRINT_SHEET } from "../../charts/figure_text.ts";
import { addDrawing, roomOf } from "../../charts/shapes.ts";
import { figureSheet, shapeElement, svg } from "../../charts/svg.ts";
import { createElement, inlineText } from "../../dom/dom.ts";
import { LIST_STEPS } from "../../dom/keyboard.ts";
import { formatPercent } from "../../dom/numbers.ts";
import type { Box, Figure } from "../../types.ts";
import type { FlowEdge, FlowView, Surroundings } from "../types.ts";
import { edgeAt, layoutFlow } from "./layout.ts";
import { addFlow, addHotEdge } from "./shapes.ts";

const KEYS = "Arrow keys go through the lines, the largest share first; Enter chooses.";

/** @param note tells the edge under the pointer */
export function createFlow(view: FlowView, { width, picks, mark }: Surroundings, note: HTMLElement) {
  const layout = layoutFlow(view, width);
  const figure = beginSheet(layout.width, view.title);
  addFlow(figure, view, layout);
  const [sheet, hotPlace] = [figureSheet(figure), svg("g", {})];
  sheet.querySelector("title")?.remove(); // it would cover what the pointer is on
  sheet.ariaHidden = "true";
  sheet.append(hotPlace);
  const box = createElement("div", "chart flow-graph", [sheet], { tabIndex: 0, role: "group", testid: "flow" });
  box.ariaLabel = `${view.title}. ${KEYS}`;
  box.style.width = `${layout.width}px`;
  note.classList.add("telling", "pointed");
  let hot = -1;
  const point = (index: number) => {
    if (index === hot) return;
    hot = index;
    const edge = view.edges[index];
    hotPlace.replaceChildren(...hotShapes(index).map((shape) => shapeElement(shape, [])));
    note.textContent = edge ? describeEdge(view, edge) : view.note;
    box.style.cursor = picksOf(edge) ? "pointer" : "";
    if (picksOf(edge)) mark?.(view.tokens[edge[3]], view.tokens[edge[2]]);
    else mark?.(null);
  };
  const hotShapes = (index: number) => {
    const part = beginSheet(layout.width, "");
    if (index >= 0) addHotEdge(part, layout.edges[index], layout);
    return part.shapes;
  };
  const choose = (index: number) => {
    const pick = picksOf(view.edges[index]);
    if (pick) picks?.choose(pick);
  };
  const under = ({ clientX, clientY }: MouseEvent) => {
    const frame = sheet.getBoundingClientRect();
    const scale = frame.width / layout.width || 1;
    return edgeAt(layout, (clientX - frame.left) / scale, (clientY - frame.top) / scale);
  };
  box.onmousemove = (event) => point(under(event));
  box.onmouseleave = () => point(-1);
  box.onclick = (event) => choose(under(event));
  const order = [...view.edges.keys()].filter((index) => picksOf(view.edges[index]));
  order.sort((one, other) => Number(view.edges[other][4]) - Number(view.edges[one][4]));
  box.onkeydown = (event) => {
    const step = LIST_STEPS[event.key];
    if (step) point(order[Math.min(Math.max(order.indexOf(hot) + step, 0), order.length - 1)] ?? -1);
    else if (event.key === "Enter") choose(hot);
    else return;
    event.preventDefault();
  };
  return createElement("div", "scroll", [box], { dataset: { insight: `${Math.round(layout.x(view.end))}` } });
}

/** What a click on an edge chooses, if anything. */
function picksOf(edge: FlowEdge | undefined) {
  return edge && Object.keys(edge[6]).length ? edge[6] : null;
}

export function describeEdge({ columns, kinds, tokens }: FlowView, [kind, row, source, target, share, note]: FlowEdge) {
  const named = (column: number) =>
    `\u2068“${inlineText(columns[column])}”\u2069${tokens[column][0] === "source" ? " of the source" : ""}`;
  const words: Record<string, string> = {
    row: String(row),
    source: named(source),
    target: named(target),
    share: formatPercent(Number(share)),
    note,
  };
  return kinds[kind].words.replace(/\{(\w+)\}/g, (_, name) => words[name]);
}

export function addFlowDrawing(figure: Figure, view: FlowView, box: Box) {
  const layout = layoutFlow(view, roomOf(box));
  const sheet = beginSheet(layout.width, "", PRINT_SHEET);
  addFlow(sheet, view, layout);
  return addDrawing(figure, sheet, box);
}
