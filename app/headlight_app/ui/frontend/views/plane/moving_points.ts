// Named points that move from frame to frame, with a slider and a button that plays them.

import { HEAD_COLOURS } from "../../charts/colours.ts";
import { svg } from "../../charts/svg.ts";
import { createElement } from "../../dom/dom.ts";
import { createLegend } from "../lines.ts";
import type { MovingPointsView } from "../types.ts";
import { createPlane, LARGE } from "./plane.ts";
import { LETTER } from "./points.ts";

const FRAME_MILLISECONDS = 90;
const GAP = 8; // pixels between a point and its name

export function createMovingPoints({ labels, frames, names, groups, group_titles }: MovingPointsView) {
  const coordinates = frames.map((frame) =>
    frame.map((point) => [Number(point[0]), Number(point[1])] as [number, number]),
  );
  const { sheet, place } = createPlane(coordinates.flat(), labels.join(", "), LARGE);
  const colour = (index: number) => HEAD_COLOURS[(groups[index] ?? index) % 8];
  const points = labels.map((label, index) => {
    const trail = svg("path", { fill: "none", stroke: colour(index), "stroke-width": 1.5, opacity: 0.35 });
    const name = svg("text", { y: 4, class: "name" }, [label]);
    const point = svg("g", {}, [svg("circle", { r: 4.5, fill: colour(index) }), name]);
    return { trail, point, name, path: coordinates.map((frame) => place(...frame[index])) };
  });
  sheet.append(...points.map(({ trail }) => trail), ...points.map(({ point }) => point));

  const show = (frame: number) => {
    slider.value = String(frame);
    caption.textContent = names[frame];
    const together = namesTogether(labels, coordinates[frame]);
    points.forEach(({ trail, point, name, path }, index) => {
      const [left, top] = path[frame];
      const line = path.slice(0, frame + 1).map(([x, y], step) => `${step ? "L" : "M"}${x} ${y}`);
      trail.setAttribute("d", line.join(""));
      point.setAttribute("transform", `translate(${left} ${top})`);
      name.textContent = together[index];
      const isCut = left + GAP + LETTER * together[index].length > LARGE;
      name.setAttribute("x", String(isCut ? -GAP : GAP));
      name.setAttribute("text-anchor", isCut ? "end" : "start");
    });
  };
  const range = { type: "range", min: "0", max: String(frames.length - 1), step: "1" };
  const slider = createElement("input", "", [], { ...range, ariaLabel: "Frame" });
  const caption = createElement("output", "quiet");
  const play = createElement("button", "small", "Play");
  let timer = 0;
  const current = () => Number(slider.value);
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const step = () => {
    if (current() < frames.length - 1) show(current() + 1);
    if (current() === frames.length - 1) stop();
  };
  play.onclick = () => {
    if (timer) return stop();
    if (current() === frames.length - 1) show(0); // from the first frame, if the last one is shown
    play.textContent = "Stop";
    timer = window.setInterval(step, FRAME_MILLISECONDS);
  };
  slider.oninput = () => {
    stop();
    show(current());
  };
  const controls = createElement("div", "player", [play, slider, caption]);
  show(0);
  return createElement("div", "chart plane large", [controls, sheet, createLegend(group_titles)]);
}

/** The label beside each point: points at the same position have their names beside the first of them. */
export function namesTogether(labels: string[], points: [number, number][]) {
  const places = points.map((point) => point.map((number) => number.toFixed(3)).join());
  return places.map((place, index) =>
    places.indexOf(place) === index ? labels.filter((_, other) => places[other] === place).join(", ") : "",
  );
}
