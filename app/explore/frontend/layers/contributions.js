// What each part adds to the logit of an answer, and what each feed-forward promotes and suppresses.

import { formatNumber, formatSigned } from "../../../../model/rendering/static/ui/charts.js";
import { createElement, inlineText, quotedToken, updateChildren } from "../../../../model/rendering/static/ui/dom.js";
import { answerPosition, drawCellTable, drawRankedBars, isCurrentHead, layerElement, selectHeadOf, showLayersMessage } from "./layers_tab.js";

function componentName(part) {
  const names = { embedding: "Token embedding", positions: "Added positions", edit: "Edits of the stream", feedforward: `Layer ${part.layer}, feed-forward` };
  if (part.kind === "bias") return part.layer < 0 ? "Biases of embedding and answer" : `Layer ${part.layer}, biases`;
  if (part.head < 0) return names[part.kind];
  return `Layer ${part.layer}, ${part.kind === "cross" ? "cross " : ""}head ${part.head}`;
}

export function drawContributions(self) {
  const found = self.wanted("contributions", { query: answerPosition(self), token: self.choice.target });
  if (!found) return;
  if (found.meta.error) return showLayersMessage(self, found.meta.error);
  const { meta, numbers } = found;
  const sum = numbers.reduce((total, number) => total + number, 0);
  layerElement(self, "shares-total").replaceChildren(
    "The logit of ", createElement("bdi", "token", inlineText(meta.piece)), " after ", ...quotedToken(self.answer.tokens[meta.position]), " is ", createElement("b", "", formatNumber(meta.logit)),
    `; all parts add up to ${formatNumber(sum)}. What is added to every token's logit alike changes no probability.`,
  );
  drawComponentTable(self, meta, numbers);
  drawLargest(self, meta, numbers, sum);
  drawPromoted(self, meta);
  layerElement(self, "conventions").textContent = meta.conventions.join(" ");
}

/** Rows are layers, columns heads; feed-forward and biases beside them, what stands outside the layers above and below. */
function drawComponentTable(self, meta, numbers) {
  const parts = meta.parts.map((part, row) => ({ ...part, value: numbers[row] }));
  const kinds = ["self", "cross"].filter((kind) => parts.some((part) => part.kind === kind));
  const heads = Math.max(...parts.map((part) => part.head)) + 1;
  const biased = parts.some((part) => part.kind === "bias" && part.layer >= 0 && part.value !== 0);
  const columns = [...kinds.flatMap((kind) => Array.from({ length: heads }, (_, head) => (kind === "cross" ? `×${head}` : `${head}`))), "FF", ...(biased ? ["bias"] : [])];
  const cell = (part) => part && { ...part, title: componentName(part), chosen: part.head >= 0 && isCurrentHead(self, part.layer, part.head, part.kind) };
  const outside = (kinds_) => parts.filter((part) => part.layer < 0 && kinds_.includes(part.kind) && (part.value !== 0 || part.kind === "embedding"));
  const layers = [...new Set(parts.map((part) => part.layer))].filter((layer) => layer >= 0);
  const short = { embedding: "token", positions: "position", bias: "answer", edit: "edits" };
  const alone = (part) => ({ label: short[part.kind], cells: [cell(part)] });
  const rows = [
    ...outside(["embedding", "positions"]).map(alone),
    ...layers.map((layer) => ({
      label: `L${layer}`,
      cells: [
        ...kinds.flatMap((kind) => parts.filter((part) => part.layer === layer && part.kind === kind)),
        parts.find((part) => part.layer === layer && part.kind === "feedforward"),
        ...(biased ? [parts.find((part) => part.layer === layer && part.kind === "bias")] : []),
      ].map(cell),
    })),
    ...outside(["bias", "edit"]).map(alone),
  ];
  const [shares, reading] = [layerElement(self, "shares"), layerElement(self, "shares-reading")];
  drawCellTable(self, shares, columns, rows, {
    most: Math.max(...numbers.map(Math.abs), 1e-9),
    read: (at) => (reading.textContent = at ? `${at.title} adds ${formatSigned(at.value)}` : "Orange adds to the logit, blue takes from it. Click a head to choose it."),
    pick: (at) => selectHeadOf(self, at.layer, at.head, at.kind),
  });
  if (!shares.contains(shares.getRootNode().activeElement)) reading.textContent = "Orange adds to the logit, blue takes from it. Click a head to choose it.";
}

function drawLargest(self, meta, numbers, sum) {
  const order = meta.parts.map((part, row) => ({ part, value: numbers[row] })).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const first = order.slice(0, 10).filter(({ value }) => value !== 0);
  const others = order.slice(first.length).filter(({ value }) => value !== 0);
  const entries = first.map(({ part, value }) => ({
    title: componentName(part), value, pick: part.head >= 0 ? () => selectHeadOf(self, part.layer, part.head, part.kind) : undefined,
  }));
  if (others.length) entries.push({ title: `All ${others.length} others`, value: others.reduce((total, { value }) => total + value, 0) });
  entries.push({ title: "Together: the logit", value: sum, total: true });
  drawRankedBars(layerElement(self, "ranked"), entries);
}

function drawPromoted(self, meta) {
  const heading = createElement("tr");
  heading.append(...["Layer", "Promoted", "Suppressed"].map((text) => { const cell = createElement("th", "", text); cell.scope = "col"; return cell; }));
  const words = (tokens) => {
    const cell = createElement("td");
    cell.append(...tokens.flatMap(({ piece, logit }, place) => [place ? "  " : "", createElement("bdi", "token", inlineText(piece)), createElement("small", "", ` ${formatSigned(logit)}`)]));
    return cell;
  };
  const rows = meta.promoted.map(({ layer, up, down }) => {
    const line = createElement("tr");
    const name = createElement("th", "", layer);
    name.scope = "row";
    line.append(name, words(up), words(down));
    return line;
  });
  updateChildren(layerElement(self, "promoted"), heading, ...rows);
}
