// The logit lens: what each layer would say at each token; how surprising the tokens were; how long the stream is.

import { formatNumber, tabStyle } from "../../../../model/rendering/static/ui/charts.js";
import { colour, paintScale } from "../../../../model/rendering/static/ui/colours.js";
import { createElement, formatPercent, hidpiContext, inlineText, onHover, quotedToken, updateChildren, visibleText } from "../../../../model/rendering/static/ui/dom.js";
import { answerPosition, layerElement, onCellKey, showLayersMessage } from "./layers_tab.js";

const WINDOW_SIZE = 32; // tokens that the server reads at a time
const MAX_SURPRISE = Math.log(1000); // nats at which the shade is full

export function drawLogitLens(self) {
  drawSeries(self);
  const { tokens } = self.answer;
  const windows = Math.ceil(tokens.length / WINDOW_SIZE);
  const here = Math.floor(answerPosition(self) / WINDOW_SIZE);
  const open = self.lensWindow?.answer === self.answer ? self.lensWindow.open : here;
  drawWindows(self, open, windows);
  const found = self.wanted("depths", { first: open * WINDOW_SIZE });
  if (!found) return;
  if (found.meta.error) return showLayersMessage(self, found.meta.error);
  drawLensTable(self, found);
}

function drawWindows(self, open, windows) {
  const bar = layerElement(self, "lens-windows");
  bar.hidden = windows < 2;
  const go = (to) => {
    self.lensWindow = { answer: self.answer, open: to };
    drawLogitLens(self);
  };
  const [earlier, later] = bar.querySelectorAll("button");
  earlier.disabled = open === 0;
  later.disabled = open === windows - 1;
  earlier.onclick = () => go(open - 1);
  later.onclick = () => go(open + 1);
  const last = Math.min((open + 1) * WINDOW_SIZE, self.answer.tokens.length) - 1;
  bar.querySelector("span").textContent = `tokens ${open * WINDOW_SIZE} to ${last} of ${self.answer.tokens.length}`;
}

/** What one cell says: its likeliest tokens with their shares, and the rank of the true token (0: not known). */
function readCell({ meta, numbers }, depth, column) {
  const wide = 2 * meta.shown + 2;
  const row = numbers.subarray((depth * meta.count + column) * wide, (depth * meta.count + column + 1) * wide);
  const tokens = Array.from(row.subarray(0, meta.shown), (token) => meta.pieces[token]);
  return { tokens, shares: row.subarray(meta.shown, 2 * meta.shown), rank: row[wide - 2], surprise: row[wide - 1] };
}

function depthName(self, depth, depths) {
  if (depth === 0) return "embedding";
  return depth === depths - 1 ? "the answer" : `after layer ${depth - 1}`;
}

function drawLensTable(self, found) {
  const { meta } = found;
  const table = layerElement(self, "lens");
  const columns = Array.from({ length: meta.count }, (_, column) => column);
  const asked = answerPosition(self);
  if (self.lensDrawn?.found === found && self.lensDrawn.asked === asked && table.rows.length) return;
  self.lensDrawn = { found, asked };
  const heading = (column) => {
    const cell = createElement("th", meta.first + column === asked ? "asked" : "");
    cell.scope = "col";
    cell.append(createElement("bdi", "", inlineText(self.answer.tokens[meta.first + column].piece)));
    return cell;
  };
  const top = createElement("tr");
  top.append(createElement("th", "", "after reading"), ...columns.map(heading));
  const rows = Array.from({ length: meta.depths }, (_, depth) => {
    const line = createElement("tr");
    const name = createElement("th", "", depthName(self, depth, meta.depths));
    name.scope = "row";
    line.append(name, ...columns.map((column) => createLensCell(self, found, depth, column)));
    return line;
  });
  const bottom = createElement("tr", "truth");
  const truth = columns.map((column) => {
    const cell = createElement("td");
    cell.append(createElement("bdi", "", meta.truth[column] < 0 ? "?" : inlineText(meta.pieces[meta.truth[column]])));
    return cell;
  });
  const name = createElement("th", "", self.answer.maskable ? "what was there" : "what really comes");
  name.scope = "row";
  bottom.append(name, ...truth);
  updateChildren(table, top, ...rows, bottom);
  const start = table.querySelector('button[tabindex="0"]') || table.querySelector("td.asked button") || table.querySelector("button");
  start.tabIndex = 0;
  table.onkeydown = (event) => onCellKey(table, event);
  paintScale(layerElement(self, "lens-scale"));
  scrollToPosition(self, table);
  if (table.contains(table.getRootNode().activeElement)) return; // it has been read, and goes on being read
  drawLensReadout(self, found, meta.depths - 1, Math.min(Math.max(asked - meta.first, 0), meta.count - 1));
}

/** Once for each answer the token at hand is brought into sight; after that the person scrolls. */
function scrollToPosition(self, table) {
  const cell = table.querySelector("td.asked");
  const place = `${self.answered} ${answerPosition(self)}`;
  if (!cell || self.lensShown === place) return;
  self.lensShown = place;
  table.parentElement.scrollLeft = cell.offsetLeft + cell.offsetWidth - table.parentElement.clientWidth + 8;
}

function createLensCell(self, found, depth, column) {
  const { meta } = found;
  const { tokens, shares, rank } = readCell(found, depth, column);
  const place = createElement("td", meta.first + column === answerPosition(self) ? "asked" : "");
  const button = createElement("button");
  const [red, green, blue] = colour(Math.sqrt(shares[0]));
  button.type = "button";
  button.tabIndex = -1;
  button.dataset.testid = `lens-${depth}-${meta.first + column}`;
  button.style.background = `rgb(${red} ${green} ${blue})`;
  button.style.color = 0.299 * red + 0.587 * green + 0.114 * blue > 125 ? "#10151f" : "#fff";
  button.append(createElement("bdi", "", inlineText(tokens[0])), createElement("small", "", rank ? `#${rank}` : ""));
  button.onfocus = () => drawLensReadout(self, found, depth, column);
  onHover(button, button.onfocus);
  button.onclick = () => self.change({ query: meta.first + column === self.answer.tokens.length - 1 ? -1 : meta.first + column, target: -1 });
  place.append(button);
  return place;
}

function drawLensReadout(self, found, depth, column) {
  const { meta } = found;
  const { tokens, shares, rank } = readCell(found, depth, column);
  const where = depthName(self, depth, meta.depths);
  const told = tokens.flatMap((piece, place) => [place ? ", " : "", createElement("bdi", "token", inlineText(piece)), ` ${formatPercent(shares[place])}`]);
  const truth = meta.truth[column];
  const right = truth < 0 ? [] : [" · true: ", createElement("bdi", "token", inlineText(meta.pieces[truth])), `, rank ${rank}`];
  layerElement(self, "lens-reading").replaceChildren(`${where[0].toUpperCase()}${where.slice(1)}, at `, ...quotedToken(self.answer.tokens[meta.first + column]), ": ", ...told, ...right);
}

function drawSeries(self) {
  const found = self.wanted("stream", {});
  if (found && !found.meta.error) drawResidualNorms(self, found.meta, found.numbers);
  const surprise = new Float32Array(self.answer.tokens.length).fill(NaN);
  for (let first = 0, ahead; first < surprise.length; ) {
    const part = self.wanted("surprise", { first });
    if (part?.meta.error) return;
    if (part) surprise.set(part.numbers, first);
    ahead = part ? part.meta.ahead : ahead;
    first = part ? first + part.meta.count : Infinity; // the next part is asked for when this one is here
    if (ahead !== undefined && first >= surprise.length) drawSurprise(self, surprise, ahead);
  }
}

/** Each token shaded by how unlikely it was; where the true token of a place comes `ahead`, to the token before it. */
function drawSurprise(self, surprise, ahead) {
  const shift = ahead ? 1 : 0;
  const told = layerElement(self, "surprise-reading");
  const spans = self.answer.tokens.map((token, position) => {
    const nats = surprise[position - shift] ?? NaN;
    const span = createElement("bdi", "", visibleText(token.piece).replace(/^·(?=.)/, " "));
    const share = Number.isNaN(nats) ? 0 : Math.min(nats / MAX_SURPRISE, 1);
    span.style.setProperty("--shade", `${Math.round(share * 78)}%`);
    span.title = Number.isNaN(nats) ? "nothing to compare with" : formatPercent(Math.exp(-nats));
    const said = Number.isNaN(nats) ? "nothing says how likely it was" : `${formatPercent(Math.exp(-nats))}, a surprise of ${formatNumber(nats, 3)} nats`;
    onHover(span, () => told.replaceChildren(...quotedToken(token), `: ${said}`));
    return span;
  });
  layerElement(self, "surprise").replaceChildren(...spans);
  const known = [...surprise].filter((nats) => !Number.isNaN(nats));
  const mean = known.reduce((sum, nats) => sum + nats, 0) / (known.length || 1);
  const seen = self.answer.maskable ? " A token that is not masked is in plain sight." : "";
  told.textContent = known.length ? `On average ${formatNumber(mean, 3)} nats a token, as if each had ${formatPercent(Math.exp(-mean))}.${seen}` : "";
}

/** One thin line for each token, on a logarithmic scale; the one at hand is strong. */
function drawResidualNorms(self, meta, lengths) {
  const canvas = layerElement(self, "lengths");
  const width = canvas.parentElement.clientWidth;
  if (!width) return;
  const style = tabStyle(self);
  const [height, left, bottom] = [170, 44 * style.type, 20 * style.type];
  const context = hidpiContext(canvas, width, height);
  const at = (depth, token) => Math.max(lengths[depth * meta.tokens + token], 1e-6);
  const logs = Array.from(lengths, (length) => Math.log10(Math.max(length, 1e-6)));
  const [low, high] = logs.reduce(([a, b], log) => [Math.min(a, log), Math.max(b, log)], [Infinity, -Infinity]);
  const x = (depth) => left + (depth / Math.max(meta.depths - 1, 1)) * (width - left - 10);
  const y = (length) => 8 + ((high - Math.log10(length)) / (high - low || 1)) * (height - bottom - 14);
  const line = (token) => {
    context.beginPath();
    for (let depth = 0; depth < meta.depths; depth++) context.lineTo(x(depth), y(at(depth, token)));
    context.stroke();
  };
  context.font = `${11 * style.type}px ${style.font}`;
  context.fillStyle = style.quiet;
  context.textAlign = "center";
  for (let depth = 0; depth < meta.depths; depth += Math.ceil(meta.depths / 14)) context.fillText(depth === 0 ? "emb." : depth, x(depth), height - 5);
  context.textAlign = "right";
  for (const log of [low, (low + high) / 2, high]) context.fillText(formatNumber(10 ** log, 2), left - 6, y(10 ** log) + 4);
  context.strokeStyle = style.quiet;
  context.globalAlpha = Math.max(0.12, Math.min(0.45, 8 / meta.tokens));
  for (let token = 0; token < meta.tokens; token++) line(token);
  context.globalAlpha = 1;
  context.lineWidth = 2.5;
  context.strokeStyle = style.beam;
  const chosen = answerPosition(self);
  line(chosen);
  const told = Array.from({ length: meta.depths }, (_, depth) => formatNumber(at(depth, chosen), 3));
  layerElement(self, "lengths-reading").replaceChildren(...quotedToken(self.answer.tokens[chosen]), `: ${told.join(" → ")}`);
  canvas.setAttribute("aria-label", `Length of the residual stream after each layer, at ${inlineText(self.answer.tokens[chosen].piece)}: ${told.join(", ")}`);
}
