// Queries and keys of one head in one plane: the nearer in direction, the higher the score.

import { plotHeight } from "../heads/measurements.js";
import { SHOWN, magnitude, stateAt, valueAt } from "../state/head_matrix.js";
import { currentGrid, selectedHeads } from "../state/head_selection.js";
import { activeQueries } from "../state/token_selection.js";
import { formatPercent, hidpiContext, inlineText, truncateText } from "../ui/dom.js";

const KEY_COLOUR = "#3b8fd0";
const HIT_RADIUS = 16; // pixels within which the pointer finds a point

export function drawQueryKeyPlot(self, view, width) {
  const [[layer, head]] = selectedHeads(self);
  const found = self.wanted("points", { attention: currentGrid(self).name, layer, head });
  if (found?.meta.error) return (self.trouble = found.meta.error);
  const height = Math.min(Math.max(width * 0.9, 260), plotHeight(self));
  const context = hidpiContext(self.paper, width, height);
  if (!found) return;
  self.points = layoutPoints(found, view, width, height);
  drawAxes(context, self, found.meta.shares, self.points, width, height);
  drawConnections(context, self, view);
  for (const point of self.points.all) drawPoint(context, self, point);
  drawPointLabels(context, self, view, width);
}

/** Where every query and key of the view lies on the screen; both axes have the same scale. */
function layoutPoints(found, view, width, height) {
  const { queries } = found.meta;
  const at = (index) => [found.numbers[2 * index], found.numbers[2 * index + 1]];
  const all = [...view.rowOf].map(([place, line]) => ({ side: "query", place, name: view.rows.names[line], spot: at(place) }));
  all.push(...[...view.columnOf].map(([place, line]) => ({ side: "key", place, name: view.columns.names[line], spot: at(queries + place) })));
  const ends = [0, 1].map((axis) => {
    const values = all.map(({ spot }) => spot[axis]);
    return [Math.min(...values), Math.max(...values)];
  });
  const scale = Math.min((width - 90) / (ends[0][1] - ends[0][0] || 1), (height - 70) / (ends[1][1] - ends[1][0] || 1));
  const middle = ends.map(([low, high]) => (low + high) / 2);
  const x = (value) => width / 2 - 14 + (value - middle[0]) * scale;
  const y = (value) => height / 2 - 8 - (value - middle[1]) * scale;
  for (const point of all) Object.assign(point, { x: x(point.spot[0]), y: y(point.spot[1]) });
  return { all, x0: x(0), y0: y(0) };
}

function drawAxes(context, self, shares, { x0, y0 }, width, height) {
  context.strokeStyle = self.style.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, y0);
  context.lineTo(width, y0);
  context.moveTo(x0, 0);
  context.lineTo(x0, height);
  context.stroke();
  context.font = `${11 * self.style.type}px ${self.style.font}`;
  context.fillStyle = self.style.quiet;
  context.textBaseline = "bottom";
  context.textAlign = "left";
  context.fillText(`across ${formatPercent(shares[0])}, up ${formatPercent(shares[1])} of the variance`, 4, height - 2);
  context.textAlign = "right";
  context.fillText("● query  ■ key", width - 4, height - 2);
}

function isActive(self, { side, place }) {
  return side === "query" ? activeQueries(self).includes(place) : self.hovered?.key === place;
}

/** From the queries at hand to the keys that they look at. */
function drawConnections(context, self, view) {
  const { all } = self.points;
  const keys = all.filter(({ side }) => side === "key");
  context.strokeStyle = self.style.beam;
  for (const query of all.filter((point) => point.side === "query" && isActive(self, point))) {
    for (const key of keys) {
      const [row, column] = [view.rowOf.get(query.place), view.columnOf.get(key.place)];
      const strength = stateAt(view, row, column) === SHOWN ? magnitude(view, valueAt(view, row, column)) : 0;
      if (strength < 0.01) continue;
      context.globalAlpha = Math.min(strength * 1.1, 1);
      context.lineWidth = (0.5 + 3 * strength) * self.style.type;
      context.beginPath();
      context.moveTo(query.x, query.y);
      context.lineTo(key.x, key.y);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

function drawPoint(context, self, point) {
  const hot = isActive(self, point);
  const size = hot ? 6 : 4;
  context.fillStyle = point.side === "query" ? self.style.beam : KEY_COLOUR;
  context.beginPath();
  if (point.side === "query") context.arc(point.x, point.y, size, 0, 2 * Math.PI);
  else context.rect(point.x - size + 0.5, point.y - size + 0.5, 2 * size - 1, 2 * size - 1);
  context.fill();
  context.strokeStyle = hot ? self.style.ink : self.style.surface;
  context.lineWidth = hot ? 2 : 1;
  context.stroke();
}

/** Names beside the points, as many as find room; those at hand always. */
function drawPointLabels(context, self, view, width) {
  const taken = [];
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const point of [...self.points.all].sort((one, other) => isActive(self, other) - isActive(self, one))) {
    const hot = isActive(self, point);
    context.font = `${hot ? "600 " : ""}${11 * self.style.type}px ${self.style.font}`;
    const name = truncateText(context, inlineText(point.name), 90);
    const wide = context.measureText(name).width;
    const x = point.x + 8 + wide > width ? point.x - 8 - wide : point.x + 8;
    const box = [x - 2, point.y - 7, x + wide + 2, point.y + 7];
    if (!hot && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
    taken.push(box);
    context.fillStyle = hot ? self.style.ink : self.style.quiet;
    context.fillText(name, x, point.y);
  }
}

export function pointTokenAt(self, event) {
  if (!self.points) return null;
  const frame = self.parts.canvas.getBoundingClientRect();
  const far = ({ x, y }) => Math.hypot(x - (event.clientX - frame.left), y - (event.clientY - frame.top));
  const nearest = self.points.all.reduce((best, point) => (far(point) < far(best) ? point : best));
  if (far(nearest) > HIT_RADIUS) return null;
  return nearest.side === "query" ? { query: nearest.place, key: null } : { query: null, key: nearest.place };
}
