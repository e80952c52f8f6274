// A model's diagram as SVG: boxes that can be entered are buttons, for mouse and keyboard.

import { svg } from "../charts/svg.ts";
import { context2d, truncateText } from "../dom/dom.ts";
import type { DiagramBox, DiagramLayout } from "./types.ts";

const [TITLE_SIZE, DETAIL_SIZE] = [13, 11.5];

/** A description of what entering a box opens, and the action. */
type Entrance = { words: string; enter: () => void };

/** @param style factor of the font size, and the font */
export function drawDiagram(
  layout: DiagramLayout,
  style: { type: number; font: string },
  entranceOf: (kind: string, stack: string, layer: number) => Entrance | null,
) {
  const { type } = style;
  const { width, height } = layout;
  const root = svg("svg", {
    viewBox: `-1 0 ${width + 2} ${height}`,
    width,
    height,
    role: "group",
    "aria-label": "Diagram of the model, from its input down to its answer",
  });
  root.append(createArrowHead());
  for (const { x, y, width: wide, height: high } of layout.frames)
    root.append(svg("rect", { class: "block", x, y, width: wide, height: high, rx: 10 }));
  for (const { points, arrow, memory } of layout.lines) {
    const end = arrow ? "url(#diagram-arrow)" : undefined;
    const line = { class: memory ? "line memory" : "line", points: points.join(" "), "marker-end": end };
    root.append(svg("polyline", line));
  }
  for (const { x, y, kind, stack } of layout.sums) addSum(root, x, y, type, entranceOf(`add_${kind}`, stack, 0));
  for (const box of layout.boxes) addBox(root, box, style, entranceOf(box.part.kind, box.stack, box.layer));
  return root;
}

function createArrowHead() {
  const box = { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" };
  const tip = svg("path", { class: "tip", d: "M0 0.5L8 4L0 7.5z" });
  return svg("defs", {}, [svg("marker", { id: "diagram-arrow", ...box }, [tip])]);
}

/** A group that is a button if there is something to enter. */
function enterable(root: Element, name: string, entrance: Entrance | null) {
  if (!entrance) return root.appendChild(svg("g"));
  const { words, enter } = entrance;
  const button = { class: "enter", role: "button", tabindex: "0", "aria-label": `${name}: ${words}` };
  const group = root.appendChild(svg("g", button, [svg("title", {}, [words])]));
  group.addEventListener("click", enter);
  group.addEventListener("keydown", (event) => {
    const { key } = event as KeyboardEvent;
    if (key !== "Enter" && key !== " ") return;
    event.preventDefault();
    enter();
  });
  return group;
}

function addSum(root: Element, x: number, y: number, type: number, entrance: Entrance | null) {
  const group = enterable(root, "Sum with the residual stream", entrance);
  const [radius, arm] = [9 * type, 5 * type];
  const plus = `M${x - arm} ${y}H${x + arm}M${x} ${y - arm}V${y + arm}`;
  group.append(svg("circle", { class: "sum", cx: x, cy: y, r: radius }), svg("path", { class: "plus", d: plus }));
}

function addBox(
  root: Element,
  { part, stack, layer, x, y, width, height, lines }: DiagramBox,
  { type, font }: { type: number; font: string },
  entrance: Entrance | null,
) {
  const group = enterable(root, lines.join(", "), entrance);
  group.setAttribute("data-testid", `diagram-${stack}-${part.kind}${part.kind === "layer" ? `-${layer}` : ""}`);
  group.append(svg("rect", { class: `box ${part.kind}`, x, y, width, height, rx: 8 }));
  const step = height / (lines.length + 0.6);
  const measuring = context2d(document.createElement("canvas"));
  lines.forEach((words, place) => {
    const size = (place ? DETAIL_SIZE : TITLE_SIZE) * type;
    measuring.font = `${place ? 400 : 600} ${size}px ${font}`;
    const shown = truncateText(measuring, words, width - 8 * type);
    const at = { x: x + width / 2, y: y + (place + 0.8) * step + size * 0.35, "font-size": size };
    group.append(svg("text", { ...at, class: place ? "detail" : "title", "text-anchor": "middle" }, [shown]));
  });
}
