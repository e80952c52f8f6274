// Named points in the plane.

import { HEAD_COLOURS } from "../../../../model/rendering/static/ui/colours.js";
import { createElement } from "../../../../model/rendering/static/ui/dom.js";
import { createLegend } from "./lines.js";
import { createPlane, LARGE, SIZE } from "./plane.js";
import { svg } from "./svg.js";

/** @import { PointsPicture } from "../types.d.ts" */

const CROWDED = 10; // so many names need a larger plane

/** @param {PointsPicture} picture */
export function createPoints({ points, groups, x_title, y_title }) {
  const words = points.map(([label, x, y]) => `${label} (${x.toFixed(2)}, ${y.toFixed(2)})`).join(", ");
  const size = points.length > CROWDED ? LARGE : SIZE;
  const { sheet, place } = createPlane(
    points.map(([, x, y]) => [x, y]),
    words,
    size,
  );
  for (const [label, x, y, group] of points) {
    const [left, top] = place(x, y);
    const isRight = left > size - 70;
    sheet.append(
      svg("circle", { cx: left, cy: top, r: 4.5, fill: HEAD_COLOURS[group % 8] }),
      svg(
        "text",
        { x: left + (isRight ? -8 : 8), y: top + 4, "text-anchor": isRight ? "end" : "start", class: "name" },
        [label],
      ),
    );
  }
  if (x_title) sheet.append(svg("text", { x: size - 8, y: size / 2 - 6, "text-anchor": "end" }, [x_title]));
  if (y_title) sheet.append(svg("text", { x: size / 2 + 6, y: 14 }, [y_title]));
  const box = createElement("div", size === SIZE ? "chart plane" : "chart plane large");
  box.append(sheet, createLegend(groups));
  return box;
}
