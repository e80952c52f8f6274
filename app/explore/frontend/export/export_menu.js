// Export of what is on the screen: links, the whole state, figures, numbers, a file that draws itself, programs.

import { fileName } from "../../../../model/rendering/static/plots/number_table.js";
import { matrixQuery } from "../../../../model/rendering/static/state/head_matrix.js";
import { currentGrid, selectedHeads } from "../../../../model/rendering/static/state/head_selection.js";
import { remembered } from "../../../../model/rendering/static/state/memory.js";
import { editsInWords, provenanceLine } from "../../../../model/rendering/static/state/provenance.js";
import { saveBlob, saveFile } from "../../../../model/rendering/static/ui/clipboard.js";
import { findByTestId } from "../../../../model/rendering/static/ui/elements.js";
import { linkAddress } from "../../../ui/frontend/address.js";
import { figureSvg, saveFigure } from "../../../ui/frontend/export/figure_files.js";
import { ExportMenu, FIGURE_FORMS, NUMBER_FORMS } from "../../../ui/frontend/export/menu.js";
import { failureText } from "../../../ui/frontend/server.js";
import { askRoute, fetchFile } from "../server.js";
import { AnswerExport } from "./answer_export.js";
import { createHeadsFigure, createPictureFigure } from "./page_figures.js";

/** @import { Packed } from "../../../../model/rendering/static/ui/wire.js" */
/** @import { FigureForm } from "../../../ui/frontend/export/menu.js" */
/** @import { Choice, ExplorePage } from "../types.js" */

const STATE_FORMAT = "headlight";
const WORKSHEET_WIDTH = 85; // millimetres of its picture
const MAX_STATE_SIZE = 4 << 20; // bytes of a state file
/** @type {Readonly<Record<string, string>>} */
const FIELD_NAMES = {
  text: "the text",
  source: "the source",
  other_text: "the other text",
  generated: "the generated text",
  side_b: "the other side",
};

const memory = remembered(() => ({
  menu: /** @type {ExportMenu | null} */ (null),
  subject: /** @type {HTMLSelectElement | null} */ (null),
  answer: /** @type {AnswerExport | null} */ (null),
}));

/** @param {ExplorePage} page */
function menuOf(page) {
  return /** @type {ExportMenu} */ (memory(page).menu);
}

/** @param {ExplorePage} page @param {ParentNode} place @returns {() => void} ends it */
export function createExportMenu(page, place) {
  const path = findByTestId(place, "export-path", HTMLInputElement);
  const answer = new AnswerExport(page, place);
  const menu = new ExportMenu(
    place,
    () => page.state.latestAnswer !== null,
    () => {
      path.placeholder = `of the picture; or of a path: ${headPath(page)}`;
      if (page.state.latestAnswer) answer.list().catch((error) => menu.say(failureText(error)));
    },
  );
  Object.assign(memory(page), { menu, answer, subject: findByTestId(place, "figure-subject", HTMLSelectElement) });
  /** @param {string} format */
  const saveNumbers = async (format) => {
    if (!answer.hasTable) return saveFileFrom(page, "export_numbers", { format, path: path.value });
    menu.say(`${await answer.saveTable(shownSide(page), format)} is saved.`);
  };
  menu.listen({
    link: () => copyLink(page),
    embed: () => copyEmbed(page),
    state: () => saveState(page),
    page: () => saveFileFrom(page, "export_page", { view_key: matrixKey(page) }),
    worksheet: () => saveWorksheet(page),
    python: () => copyProgram(page, "python"),
    shell: () => copyProgram(page, "shell"),
    ...Object.fromEntries(FIGURE_FORMS.map((form) => [form, () => exportFigure(page, form)])),
    ...Object.fromEntries(NUMBER_FORMS.map((form) => [form, () => saveNumbers(form)])),
  });
  menu.offerPdf(page.state.catalogue.writes_pdf);
  const file = findByTestId(place, "open-state", HTMLInputElement);
  file.onchange = () => menu.run(file, () => openState(page, file));
  return () => menu.end();
}

/** All that was chosen, as the server reads it. @param {ExplorePage} page */
function currentState(page) {
  return { ...page.state.settings, ...page.state.choice };
}

/** The same to come back to: a target that the model writes is written anew. @param {ExplorePage} page */
function toldState(page) {
  return { ...page.state.settings, ...page.state.told };
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
  await menuOf(page).copy(link, `The link is copied.${lost || " Who opens it sees the same."}`);
}

/** @param {ExplorePage} page */
async function copyEmbed(page) {
  const { link, lost } = await linkTo(page, { embedded: "1" });
  const source = link.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  const frame = `<iframe src="${source}" title="Headlight" width="100%" height="760" style="border: 0" sandbox="allow-scripts allow-same-origin"></iframe>`;
  await menuOf(page).copy(frame, `The frame for another page is copied.${lost}`);
}

/** @param {ExplorePage} page */
async function saveState(page) {
  const state = { ...toldState(page), embedded: "" };
  const provenance = await stateOrigin(page).catch(() => null); // what a model refuses is kept all the same
  const file = { [STATE_FORMAT]: 1, page: "explore", provenance, state };
  saveFile("headlight-state.json", "application/json", JSON.stringify(file, null, 1));
  menuOf(page).say("The state is saved, the whole text with it. Open it here again at any time.");
}

/** By which model, of which file, and by what and when. @param {ExplorePage} page */
async function stateOrigin(page) {
  const asked = { sides: [shownSide(page)], shown: "the state of the page Explore" };
  /** @type {Packed<{ provenance: object }>} */
  const { meta } = await askRoute(page, "export_origin", asked);
  return meta.provenance;
}

/** The question with the heads that are shown of its answer. @param {ExplorePage} page */
function shownSide(page) {
  const heads = currentGrid(page) ? selectedHeads(page) : [];
  return { ...currentState(page), attention_group: page.state.choice.attention, heads };
}

/** @param {ExplorePage} page @param {HTMLInputElement} input */
async function openState(page, input) {
  const file = input.files?.[0];
  input.value = "";
  if (!file) return;
  if (file.size > MAX_STATE_SIZE) throw new Error("This file is too large for a saved state.");
  const state = parseState(await file.text());
  if (!state) throw new Error("This file holds no state of Headlight. Save one here first.");
  menuOf(page).show(false);
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

/** @param {ExplorePage} page @param {FigureForm} form */
async function exportFigure(page, form) {
  const { menu, subject, answer } = memory(page);
  if (answer?.drawsFigure) return exportAnswer(page, answer, form);
  const overview = subject?.value === "heads";
  const metadata = await figureMetadata(page, overview);
  const { foot, ...options } = menuOf(page).figureOptions;
  const create = overview ? createHeadsFigure : createPictureFigure;
  const figure = await create(page, { ...options, foot: foot ? metadata.line : "" });
  const name = overview ? `all-heads-${currentGrid(page).name}` : fileName(page);
  menu?.say(await saveFigure(figure, metadata, name, form, pdfWriter(page)));
}

/** What stands above the tabs. @param {ExplorePage} page @param {AnswerExport} answer @param {FigureForm} form */
async function exportAnswer(page, answer, form) {
  const drawing = await answer.drawing();
  /** @type {Packed<{ provenance: object, sides: string[][] }>} */
  const { meta } = await askRoute(page, "export_origin", { sides: [shownSide(page)], shown: drawing.shown });
  const metadata = originOf(page, meta.provenance, meta.sides[0]);
  const { foot, ...options } = menuOf(page).figureOptions;
  const figure = answer.figure({ ...options, foot: foot ? metadata.line : "" }, drawing);
  menuOf(page).say(await saveFigure(figure, metadata, drawing.name, form, pdfWriter(page)));
}

/** @param {ExplorePage} page */
function pdfWriter(page) {
  return (/** @type {object} */ request) => fetchFile(page, "export_pdf", request);
}

/** A page for a class, to be changed and printed. @param {ExplorePage} page */
async function saveWorksheet(page) {
  const metadata = await figureMetadata(page, false);
  const options = { width: WORKSHEET_WIDTH, title: menuOf(page).figureOptions.title, foot: "" };
  const figure = figureSvg(await createPictureFigure(page, options), metadata);
  const { link, lost } = await linkTo(page, {});
  await saveFileFrom(page, "export_worksheet", { figure, link, line: metadata.line, omitted: lost.trim() });
  menuOf(page).say("The worksheet is saved. Open it to change the questions, and print it.");
}

/** What a figure says of itself, in words and as JSON. @param {ExplorePage} page @param {boolean} all heads, not the picture */
async function figureMetadata(page, all) {
  /** @type {Packed<{ provenance: object, provenance_parts: string[] }>} */
  const { meta } = await askRoute(page, "export_provenance", { ...currentState(page), all_heads: all });
  return originOf(page, meta.provenance, meta.provenance_parts);
}

/** @param {ExplorePage} page @param {object} provenance @param {string[]} parts the same in words */
function originOf(page, provenance, parts) {
  const changes = editsInWords(page.state, page.state.choice.edits);
  return { line: provenanceLine(parts, changes), fields: JSON.stringify({ ...provenance, changes }) };
}

/** @param {ExplorePage} page @param {string} route @param {object} more */
async function saveFileFrom(page, route, more) {
  const file = await fetchFile(page, route, { ...currentState(page), ...more });
  saveBlob(file.name, file);
  menuOf(page).say(`${file.name} is saved.`);
}

/** @param {ExplorePage} page @param {"python" | "shell"} language */
async function copyProgram(page, language) {
  /** @type {Packed<{ python: string, shell: string }>} */
  const { meta } = await askRoute(page, "export_code", currentState(page));
  await menuOf(page).copy(
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
