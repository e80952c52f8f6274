// Export of what is on the screen: links, the whole state, figures, numbers, a file that draws itself, programs.

import { fileName } from "../../../../model/rendering/static/plots/number_table.js";
import { matrixQuery } from "../../../../model/rendering/static/state/head_matrix.js";
import { currentGrid, selectedHeads } from "../../../../model/rendering/static/state/head_selection.js";
import { remembered } from "../../../../model/rendering/static/state/memory.js";
import { editsInWords, provenanceLine } from "../../../../model/rendering/static/state/provenance.js";
import { saveBlob, saveFile } from "../../../../model/rendering/static/ui/clipboard.js";
import { find, findByTestId } from "../../../../model/rendering/static/ui/elements.js";
import { linkAddress } from "../../../ui/frontend/address.js";
import { failureText } from "../../../ui/frontend/server.js";
import { askRoute, fetchFile } from "../server.js";
import { figurePng, figureSvg, pdfRequest } from "./figure_files.js";
import { createHeadsFigure, createPictureFigure } from "./page_figures.js";

/** @import { Packed } from "../../../../model/rendering/static/ui/wire.js" */
/** @import { Choice, ExplorePage } from "../types.js" */

const STATE_FORMAT = "headlight";
const MAX_STATE_SIZE = 4 << 20; // bytes of a state file
/** @type {Readonly<Record<string, string>>} */
const FIELD_NAMES = {
  text: "the text",
  source: "the source",
  other_text: "the other text",
  generated: "the generated text",
  side_b: "the other side",
};

/** @typedef {ReturnType<typeof menuElements>} MenuElements */

const memory = remembered(() => ({ elements: /** @type {MenuElements | null} */ (null), busy: false }));

/** @param {ParentNode} place */
function menuElements(place) {
  return {
    button: findByTestId(place, "export-menu-button", HTMLButtonElement),
    menu: findByTestId(place, "export-menu"),
    status: findByTestId(place, "export-status"),
    copied: findByTestId(place, "export-copied", HTMLTextAreaElement),
    path: findByTestId(place, "export-path", HTMLInputElement),
    subject: findByTestId(place, "figure-subject", HTMLSelectElement),
    width: findByTestId(place, "figure-width", HTMLSelectElement),
    title: findByTestId(place, "figure-title", HTMLInputElement),
    foot: findByTestId(place, "figure-foot", HTMLInputElement),
  };
}

/** @param {ExplorePage} page */
function elementsOf(page) {
  return /** @type {MenuElements} */ (memory(page).elements);
}

/** @param {ExplorePage} page @param {ParentNode} place @returns {() => void} ends it */
export function createExportMenu(page, place) {
  const elements = menuElements(place);
  memory(page).elements = elements;
  const { button, menu, path } = elements;
  button.onclick = () => showMenu(page, Boolean(menu.hidden));
  menu.onkeydown = (event) => {
    event.stopPropagation(); // letters typed here are no keys of the plots
    if (event.key !== "Escape") return;
    showMenu(page, false);
    button.focus();
  };
  /** @param {PointerEvent} event */
  const closeOutside = (event) => {
    const inside = event.composedPath().some((part) => part === menu || part === button);
    if (!menu.hidden && !inside) showMenu(page, false);
  };
  document.addEventListener("pointerdown", closeOutside);
  /** @param {string} format */
  const saveNumbers = (format) => saveFileFrom(page, "export_numbers", { format, path: path.value });
  /** @type {Record<string, () => void | Promise<void>>} */
  const actions = {
    link: () => copyLink(page),
    embed: () => copyEmbed(page),
    state: () => saveState(page),
    svg: () => saveFigure(page, "svg"),
    png: () => saveFigure(page, "png"),
    pdf: () => saveFigure(page, "pdf"),
    page: () => saveFileFrom(page, "export_page", { view_key: matrixKey(page) }),
    csv: () => saveNumbers("csv"),
    json: () => saveNumbers("json"),
    npz: () => saveNumbers("npz"),
    python: () => copyProgram(page, "python"),
    shell: () => copyProgram(page, "shell"),
  };
  for (const [name, take] of Object.entries(actions)) {
    const control = findByTestId(place, `export-${name}`);
    control.onclick = () => runAction(page, control, take);
  }
  findByTestId(place, "export-pdf").hidden = !page.state.catalogue.writes_pdf;
  const file = findByTestId(place, "open-state", HTMLInputElement);
  file.onchange = () => runAction(page, file, () => openState(page, file));
  return () => document.removeEventListener("pointerdown", closeOutside);
}

/** @param {ExplorePage} page @param {boolean} open */
function showMenu(page, open) {
  const { button, menu, copied } = elementsOf(page);
  menu.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
  if (!open) return;
  copied.hidden = true;
  showStatus(page, "");
  elementsOf(page).path.placeholder = `of the picture; or of a path: ${headPath(page)}`;
  find(menu, "button").focus();
}

/** @param {ExplorePage} page @param {...(Node | string)} message */
function showStatus(page, ...message) {
  elementsOf(page).status.replaceChildren(...message);
}

/**
 * Does one thing at a time, and says what came of it.
 * @param {ExplorePage} page @param {HTMLElement} control @param {() => void | Promise<void>} take
 */
async function runAction(page, control, take) {
  if (!page.state.latestAnswer || memory(page).busy) return;
  memory(page).busy = true;
  control.classList.add("busy");
  showStatus(page, "");
  try {
    await take();
  } catch (error) {
    showStatus(page, failureText(error));
  } finally {
    memory(page).busy = false;
    control.classList.remove("busy");
  }
}

/** All that was chosen, as the server reads it. @param {ExplorePage} page */
function currentState(page) {
  return { ...page.state.settings, ...page.state.choice };
}

/** The same to come back to: a target that the model writes is written anew. @param {ExplorePage} page */
function toldState(page) {
  return { ...page.state.settings, ...page.state.told };
}

/**
 * Puts text into the clipboard, and shows it: where there is no clipboard, it is marked to be copied.
 * @param {ExplorePage} page @param {string} text @param {string} message
 */
async function copyToClipboard(page, text, message) {
  const box = elementsOf(page).copied;
  box.hidden = false;
  box.value = text;
  box.rows = Math.min(text.split("\n").length, 9);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    box.select(); // a page that came over plain http has none
    if (!document.execCommand("copy")) return showStatus(page, "Press Ctrl+C to copy what is marked.");
  }
  showStatus(page, message);
}

/** @param {ExplorePage} page @param {Partial<Choice>} more */
async function linkTo(page, more) {
  /** @type {Packed<{ query: string, omitted: string[] }>} */
  const { meta } = await askRoute(page, "link", { ...toldState(page), presenter: "", embedded: "", ...more });
  const lost = meta.omitted.map((name) => FIELD_NAMES[name] || name).join(" and ");
  return {
    link: linkAddress(location.href, meta.query, page.state.catalogue.room_address),
    lost: lost && ` It leaves out ${lost}, too long for a link: save the state as a file instead.`,
  };
}

/** @param {ExplorePage} page */
async function copyLink(page) {
  const { link, lost } = await linkTo(page, {});
  await copyToClipboard(page, link, `The link is copied.${lost || " Who opens it sees the same."}`);
}

/** @param {ExplorePage} page */
async function copyEmbed(page) {
  const { link, lost } = await linkTo(page, { embedded: "1" });
  const source = link.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  const frame = `<iframe src="${source}" title="Headlight" width="100%" height="760" style="border: 0" sandbox="allow-scripts allow-same-origin"></iframe>`;
  await copyToClipboard(page, frame, `The frame for another page is copied.${lost}`);
}

/** @param {ExplorePage} page */
function saveState(page) {
  const state = { ...toldState(page), embedded: "" };
  saveFile("headlight-state.json", "application/json", JSON.stringify({ [STATE_FORMAT]: 1, state }, null, 1));
  showStatus(page, "The state is saved, the whole text with it. Open it here again at any time.");
}

/** @param {ExplorePage} page @param {HTMLInputElement} input */
async function openState(page, input) {
  const file = input.files?.[0];
  input.value = "";
  if (!file) return;
  if (file.size > MAX_STATE_SIZE) throw new Error("This file is too large for a saved state.");
  const state = parseState(await file.text());
  if (!state) throw new Error("This file holds no state of Headlight. Save one here first.");
  showMenu(page, false);
  page.reporter.submit(state); // the page checks every choice, and hands back what fits
}

/** @param {string} text */
function parseState(text) {
  try {
    const read = JSON.parse(text);
    return read?.[STATE_FORMAT] && typeof read.state === "object" ? read.state : null;
  } catch {
    return null;
  }
}

/** @param {ExplorePage} page @param {"svg" | "png" | "pdf"} form */
async function saveFigure(page, form) {
  const { subject, width, title, foot } = elementsOf(page);
  const overview = subject.value === "heads";
  const metadata = await figureMetadata(page, overview);
  const options = { width: Number(width.value), title: title.value.trim(), foot: foot.checked ? metadata.line : "" };
  const figure = await (overview ? createHeadsFigure(page, options) : createPictureFigure(page, options));
  const name = `${overview ? `all-heads-${currentGrid(page).name}` : fileName(page)}.${form}`;
  if (form === "svg") saveFile(name, "image/svg+xml", figureSvg(figure, metadata));
  else if (form === "png") saveBlob(name, await figurePng(figure, metadata));
  else saveBlob(name, await fetchFile(page, "export_pdf", pdfRequest(figure, metadata)));
  showStatus(page, `${name} is saved, ${Math.round(figure.width)} × ${Math.round(figure.height)} mm.`);
}

/** What a figure says of itself, in words and as JSON. @param {ExplorePage} page @param {boolean} all heads, not the picture */
async function figureMetadata(page, all) {
  /** @type {Packed<{ provenance: object, provenance_parts: string[] }>} */
  const { meta } = await askRoute(page, "export_provenance", { ...currentState(page), all_heads: all });
  const changes = editsInWords(page.state, page.state.choice.edits);
  return {
    line: provenanceLine(meta.provenance_parts, changes),
    fields: JSON.stringify({ ...meta.provenance, changes }),
  };
}

/** @param {ExplorePage} page @param {string} route @param {object} more */
async function saveFileFrom(page, route, more) {
  const file = await fetchFile(page, route, { ...currentState(page), ...more });
  saveBlob(file.name, file);
  showStatus(page, `${file.name} is saved.`);
}

/** @param {ExplorePage} page @param {"python" | "shell"} language */
async function copyProgram(page, language) {
  /** @type {Packed<{ python: string, shell: string }>} */
  const { meta } = await askRoute(page, "export_code", currentState(page));
  await copyToClipboard(
    page,
    meta[language],
    language === "python" ? "The Python program is copied." : "The lines for a shell are copied.",
  );
}

/** By what a saved page finds its picture again. @param {ExplorePage} page */
function matrixKey(page) {
  const { per_head: _, ...asked } = matrixQuery(page);
  return JSON.stringify(asked);
}

/** @param {ExplorePage} page */
function headPath(page) {
  const grid = currentGrid(page);
  const [[layer, head]] = grid ? selectedHeads(page) : [[0, 0]];
  return grid ? `${grid.stack}.${layer}.${grid.kind}.q[${head}]` : "logits";
}
