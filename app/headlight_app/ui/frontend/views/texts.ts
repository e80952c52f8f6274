// Tables of texts, formulas with numbers in them, verdicts, and claims.

import { createElement, createHeading, inlineText } from "../dom/dom.ts";
import { formatNumber } from "../dom/numbers.ts";
import { fitFormulas } from "../formulas/fit_formulas.ts";
import { createFormula } from "../formulas/formula.ts";
import type { ClaimsView, EquationsView, LinkTo, Pick, Picks, TableView, VerdictView } from "./types.ts";

const LONG_WORD = /\S{20,}/; // may break anywhere, or it would leave no room for the other columns

export function createTable(
  { title, columns, rows, digits, addresses, picks: choices, marked, marked_as }: TableView,
  picks?: Picks,
) {
  const head = createElement("tr", "", [...columns.map((title) => createHeading(title, "col"))]);
  const table = createElement("table", "facts", [
    head,
    ...rows.map(([name, ...cells], index) => {
      const line = createElement("tr", "", [
        createHeading(createRowName(String(name), choices[index], picks), "row"),
        ...cells.map((cell) => {
          const number = typeof cell === "number" || /^(NaN|-?Infinity)$/.test(cell);
          const style = number ? "figure" : LONG_WORD.test(String(cell)) ? "long" : "";
          return createElement(
            "td",
            style,
            number ? formatNumber(Number(cell), digits) : cell && inlineText(String(cell)),
          );
        }),
      ]);
      if (addresses[index]) linkCell(line.lastElementChild, addresses[index]);
      line.classList.toggle("marked", index === marked);
      if (index === marked && marked_as) line.firstElementChild?.append(" ", createElement("span", "badge", marked_as));
      return line;
    }),
  ]);
  const frame = createElement("div", "scroll", [table]);
  scrollByKeys(frame, title);
  return frame;
}

/** Makes a frame a stop of the tab key while it is narrower than what it shows, so that arrow keys scroll it. */
function scrollByKeys(frame: HTMLElement, name: string) {
  const check = () => {
    const scrolls = frame.scrollWidth > frame.clientWidth;
    if (scrolls) Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: name || "Table" });
    else for (const attribute of ["tabindex", "role", "aria-label"]) frame.removeAttribute(attribute);
  };
  new ResizeObserver(check).observe(frame);
}

function createRowName(name: string, pick: Pick | undefined, picks?: Picks) {
  if (!pick || !picks) return name;
  const button = createElement("button", "", name, { onclick: () => picks.choose(pick), dir: "auto" });
  button.ariaPressed = String(picks.isChosen(pick));
  return [button];
}

/** Makes the content of a cell an external link, in a new tab. */
function linkCell(cell: Element | null, address: string) {
  const link = createElement("a", "screen-link", [], { href: address, target: "_blank", rel: "noopener noreferrer" });
  link.append(...(cell?.childNodes ?? []));
  cell?.append(link);
}

export function createEquations({ lines }: EquationsView) {
  const box = createElement("div", "equations scroll");
  box.append(...lines.map((line) => createElement("p", "", [createFormula(line)])));
  fitFormulas(box);
  return box;
}

export function createVerdict(view: VerdictView) {
  const verdict = createElement("p", "verdict", verdictWords(view));
  if (view.good !== null) verdict.dataset.good = String(view.good);
  return verdict;
}

/** The sentence with the sign of its judgement. */
export function verdictWords({ text, good }: VerdictView) {
  return `${good === null ? "" : good ? "✓ " : "✗ "}${text}`;
}

/** A list of common claims; a click on one opens what is right. @param linkTo on a page that has links to screens */
export function createClaims({ claims }: ClaimsView, linkTo?: LinkTo) {
  return createElement("ul", "claim-list", [
    ...claims.map(({ said, right, links }) => {
      const card = createElement("details");
      const ways = createElement("p", "ways", linkTo ? links.map(linkTo) : []);
      card.append(createElement("summary", "", `“${said}”`), createElement("p", "", right), ways);
      return createElement("li", "", [card]);
    }),
  ]);
}
