// The beams of a search as a tree: what was kept after each step, and which beam it continues.

import { svg } from "../../ui/frontend/charts/svg.js";
import { createElement, inlineText, updateChildren } from "../../ui/frontend/dom/dom.js";

/** @import { ExplorePage } from "../../explore/frontend/types.js" */
/** @import { Beam, BeamSearchAnswer } from "./contract.js" */

const LETTER = 7.6; // pixels of a letter, about
const [ROW, GAP, HEIGHT, ENDING] = [34, 26, 24, 14];

/** @typedef {{ x: number, y: number, width: number, beam: Beam, lasts: "best" | "kept" | "" }} Node */

/** @param {ExplorePage} page */
export function showsBeams(page) {
  return page.state.choice.beam_width > 1 || page.state.answer.changed;
}

/** The settings of a search besides the question. @param {ExplorePage} page */
export function beamsQuery(page) {
  return { beam_width: page.state.choice.beam_width };
}

/** @param {ExplorePage} page @param {HTMLElement} place */
export function drawBeams(page, place) {
  const { beam_width } = page.state.choice;
  const { changed } = page.state.answer;
  place.hidden = !showsBeams(page);
  if (place.hidden) return;
  const found = page.server.get("beam_search", beamsQuery(page), 150);
  place.classList.toggle("waiting", !found);
  if (!found && !place.childElementCount) place.append(createElement("p", "quiet", "Searching …"));
  if (!found) return;
  if (found.meta.error) return place.replaceChildren(createElement("p", "quiet", found.meta.error));
  const title = changed ? "What the model writes with these changes" : "Beams";
  updateChildren(
    place,
    createElement("h3", "", title),
    ...(beam_width > 1 ? [explanation(found.meta, beam_width), createTree(found.meta)] : []),
    createRanking(page, found.meta),
  );
}

/** @param {BeamSearchAnswer} meta @param {number} width */
function explanation({ length_penalty: penalty }, width) {
  return createElement(
    "p",
    "explain",
    `After each token the ${width} likeliest beginnings are kept. The score is the log probability of all tokens over ((5 + length) / 6) to the power of ${penalty}, so that a longer text may win.`,
  );
}

/** Which nodes lead to a beam that is left at the end, and which to the best. @param {Beam[][]} steps */
export function survivors(steps) {
  /** @type {Node["lasts"][][]} */
  const lasts = steps.map((beams) => beams.map(() => ""));
  const ends = steps.at(-1) ?? [];
  for (let rank = ends.length - 1; rank >= 0; rank--) {
    let place = rank;
    for (let step = steps.length - 1; step >= 0; step--) {
      lasts[step][place] = rank === 0 ? "best" : "kept";
      place = steps[step][place].parent;
    }
  }
  return lasts;
}

/** @param {BeamSearchAnswer} meta */
function createTree({ steps }) {
  const lasts = survivors(steps);
  let x = 2;
  const columns = steps.map((beams, step) => {
    const names = beams.map(({ token }) => (token ? inlineText(token) : ""));
    const width = Math.max(ENDING, ...names.map((name) => (name ? Math.min([...name].length * LETTER + 18, 150) : 0)));
    const nodes = beams.map((beam, rank) => ({ x, y: 2 + rank * ROW, width, beam, lasts: lasts[step][rank] }));
    x += width + GAP;
    return nodes;
  });
  const height = Math.max(...steps.map(({ length }) => length)) * ROW;
  const label = "The tree of beams; the list below has those that are left, the best first.";
  const tree = svg("svg", { width: x - GAP + 2, height, role: "img", "aria-label": label });
  const pairs = columns
    .slice(1)
    .flatMap((nodes, step) => nodes.map((node) => ({ from: columns[step][node.beam.parent], to: node })));
  tree.append(...pairs.map(({ from, to }) => createEdge(from, to)), ...columns.flat().map(createNode));
  const frame = createElement("div", "tree");
  frame.tabIndex = 0;
  frame.append(tree);
  return frame;
}

/** @param {Node} from @param {Node} to */
function createEdge(from, to) {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const half = (x1 + x2) / 2;
  return svg("path", { d: `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}`, class: to.lasts });
}

/** @param {Node} node */
function createNode({ x, y, width, beam, lasts }) {
  const group = svg("g", { class: lasts, transform: `translate(${x} ${y})` });
  if (!beam.token) {
    group.append(svg("line", { x1: 0, x2: width, y1: HEIGHT / 2, y2: HEIGHT / 2 }));
    return group;
  }
  const middle = { x: width / 2, y: HEIGHT / 2, "text-anchor": "middle", "dominant-baseline": "central" };
  const numbers = `log probability ${beam.log_probability.toFixed(2)}, score ${beam.score.toFixed(2)}`;
  group.append(
    svg("rect", { width, height: HEIGHT, rx: 7 }),
    svg("text", middle, [inlineText(beam.token)]),
    svg("title", {}, [numbers]),
  );
  return group;
}

/** The beams that are left: a click makes one the target. @param {ExplorePage} page @param {BeamSearchAnswer} meta */
function createRanking(page, { steps, texts }) {
  const list = createElement("ol", "ranking");
  list.append(
    ...(steps.at(-1) ?? []).map((beam, rank) => {
      const row = createElement("li");
      const text = createElement("button", "beam-text", texts[rank] || "(nothing)");
      text.dataset.testid = `beam-${rank}`;
      text.dir = "auto";
      text.setAttribute("aria-pressed", String(texts[rank] === page.state.answer.question.text));
      text.title = "Take it as the target";
      text.onclick = () => take(page, texts[rank]);
      const ending = beam.finished ? "" : ", not ended";
      const numbers = `score ${beam.score.toFixed(2)} · log probability ${beam.log_probability.toFixed(2)}${ending}`;
      row.append(text, createElement("span", "quiet", numbers.replace(/-/g, "−")));
      return row;
    }),
  );
  return list;
}

/** @param {ExplorePage} page @param {string} text */
function take(page, text) {
  page.state.writesTarget = false;
  page.change({ text, query: -1, pinned: [], masked_positions: [], target_token: -1 });
}
