// Nodes joined by edges, each coloured by its share.

import { divergingColour } from "../../charts/charts.ts";
import { createSheet, svg } from "../../charts/svg.ts";
import { createElement } from "../../dom/dom.ts";
import type { GraphView } from "../types.ts";

const [UNIT, MARGIN, RADIUS] = [72, 34, 23]; // pixels: length of an edge, margin of the graph, radius of a node

export function createGraph({ nodes, places, edges, shades, marked }: GraphView) {
  const points = places.map(([x, y]) => [Number(x) * UNIT, Number(y) * UNIT]);
  const [left, top] = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])) - MARGIN);
  const [right, bottom] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])) + MARGIN);
  const sheet = createSheet(right - left, bottom - top, describe(nodes, edges, shades));
  const at = (node: number) => [points[node][0] - left, points[node][1] - top];
  sheet.append(
    ...edges.map(([one, other]) => {
      const [[x1, y1], [x2, y2]] = [at(one), at(other)];
      return svg("line", { x1, y1, x2, y2, class: "edge" });
    }),
    ...nodes.map((name, node) => createNode(name, at(node), shades[node], node === marked)),
  );
  const box = createElement("div", "chart graph");
  box.style.width = `${right - left}px`;
  box.append(sheet);
  return box;
}

function createNode(name: string, [x, y]: number[], share: number | undefined, isMarked: boolean) {
  const circle = svg("circle", { cx: x, cy: y, r: RADIUS, class: isMarked ? "node marked" : "node" });
  circle.style.fill = share === undefined ? "var(--surface)" : divergingColour(Number(share));
  const label = svg(
    "text",
    { x, y: share === undefined ? y + 4 : y - 2, "text-anchor": "middle", class: "node-name" },
    [name],
  );
  const parts = [circle, label];
  if (share !== undefined)
    parts.push(
      svg("text", { x, y: y + 12, "text-anchor": "middle", class: "node-share" }, [`${Math.round(share * 100)} %`]),
    );
  return svg("g", {}, parts);
}

function describe(nodes: string[], edges: [number, number][], shades: number[]) {
  const shares = nodes.map((name, node) => (shades.length ? `${name} ${Math.round(shades[node] * 100)} %` : name));
  return `${shares.join(", ")}; edges ${edges.map(([one, other]) => `${nodes[one]}–${nodes[other]}`).join(", ")}`;
}
