// Views of words as figures for print: each is as wide as the figure.

import { addTextColumns } from "../../charts/figure_table.ts";
import { addLines, LABEL_SIZE, wrapText } from "../../charts/figure_text.ts";
import type { Box, Figure } from "../../types.ts";
import { verdictWords } from "../texts.ts";
import type { ClaimsView, EquationsView, VerdictView } from "../types.ts";
import { plainFormula } from "./plain_formula.ts";

export function addClaims(figure: Figure, { claims }: ClaimsView, box: Box) {
  if (!claims.length) return box.y;
  const rows = claims.map(({ said, right }) => [`“${said}”`, right]);
  return addTextColumns(figure, ["What is said", "What is right"], rows, box);
}

/** Formulas as lines of text: only a browser lays out MathML, and a figure is no part of a page. */
export function addEquations(figure: Figure, { lines }: EquationsView, box: Box) {
  return addWrapped(figure, lines.map(plainFormula), box);
}

export function addVerdict(figure: Figure, view: VerdictView, box: Box) {
  return addWrapped(figure, [verdictWords(view)], box);
}

function addWrapped(figure: Figure, texts: string[], { x, y, width }: Box) {
  const lines = texts.flatMap((text) => wrapText(text, LABEL_SIZE, width));
  return addLines(figure, lines, x, y) + 1;
}
