// Export of what is on the screen: links, the whole state, figures, numbers, a file that draws itself, programs.

import { linkAddress, withVariant } from "../../../ui/frontend/address.js";
import { saveBlob, saveFile } from "../../../ui/frontend/dom/clipboard.js";
import { find, findByTestId } from "../../../ui/frontend/dom/elements.js";
import { figureSvg, saveFigure } from "../../../ui/frontend/export/figure_files.js";
import { ExportMenu, FIGURE_FORMS, NUMBER_FORMS } from "../../../ui/frontend/export/menu.js";
import { fileName } from "../../../ui/frontend/plots/number_table.js";
import { matrixQuery } from "../../../ui/frontend/state/head_matrix.js";
import { currentGroup, selectedHeads } from "../../../ui/frontend/state/head_selection.js";
import { remembered } from "../../../ui/frontend/state/memory.js";
import { editsInWords, provenanceLine } from "../../../ui/frontend/state/provenance.js";
import { askRoute, fetchFile } from "../server.js";
import { AnswerExport } from "./answer_export.js";
import { linkNotes } from "./link.js";
import { createHeadsFigure, createPictureFigure, drawsWhatIsShown } from "./page_figures.js";

/** @import { ExportPdfRequest } from "../../../ui/frontend/export/contract.js" */
/** @import { FigureForm } from "../../../ui/frontend/export/menu.js" */
/** @import { Choice, ExplorePage, FileRoute, Routes } from "../types.js" */

const STATE_FORMAT = "headlight";
const WORKSHEET_WIDTH = 85; // millimetres of its picture
const MAX_STATE_SIZE = 4 << 20; // bytes of a state file

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
  const subject = findByTestId(place, "figure-subject", HTMLSelectElement);
  const menu = new ExportMenu(
    place,
    () => page.state.latestAnswer !== null,
    () => {
      path.placeholder = `of the picture; or of a path: ${headPath(page)}`;
      find(subject, "[value=picture]").textContent = drawsWhatIsShown(page)
        ? "this picture"
        : "the map of the current heads (what stands here cannot be drawn)";
      return page.state.latestAnswer && answer.list();
    },
  );
  Object.assign(memory(page), { menu, answer, subject });
  /** @param {string} format */
  const saveNumbers = async (format) => {
    if (!answer.hasTable)
      return saveFileFrom(page, "export_numbers", { ...shownRequest(page), format, path: path.value });
    menu.say(`${await answer.saveTable(shownSide(page), format)} is saved.`);
  };
  menu.listen({
    link: () => copyLink(page),
    embed: () => copyEmbed(page),
    state: () => saveState(page),
    page: () => saveFileFrom(page, "export_page", { ...shownRequest(page), view_key: matrixKey(page) }),
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

/** What a file is made of: the question, and all that was chosen. @param {ExplorePage} page */
function shownRequest(page) {
  const { question, settings, choice } = page.state;
  return { question, state: { ...settings, ...choice } };
}

/** All that was chosen, to come back to: a target that the model writes is written anew. @param {ExplorePage} page */
function toldState(page) {
  return { ...page.state.settings, ...page.state.told };
}

/** A link, without the visitor's own pictures, and what others do not see. @param {ExplorePage} page @param {Partial<Choice>} more */
async function linkTo(page, more) {
  const { images, own_model: ownModel, own_image_prefix: prefix, room_address: room } = page.state.catalogue;
  const told = toldState(page);
  const pictures = /** @type {const} */ (["image", "other_text"]).filter(
    (name) => images && told[name].startsWith(prefix),
  );
  const shared = { ...told, ...Object.fromEntries(pictures.map((name) => [name, ""])) };
  const { meta } = await askRoute(page, "link", { state: { ...shared, presenter: "", embedded: "", ...more } });
  const link = linkAddress(location.href, meta.query, room);
  const notes = linkNotes(link, { omitted: meta.omitted, ownModel, hasOwnPicture: pictures.length > 0 });
  return { link, notes };
}

/** @param {ExplorePage} page */
async function copyLink(page) {
  const { link, notes } = await linkTo(page, {});
  await menuOf(page).copy(link, `The link is copied. ${notes || "Everybody who opens it sees the same."}`);
}

/** @param {ExplorePage} page */
async function copyEmbed(page) {
  const { link, notes } = await linkTo(page, { embedded: "1" });
  const source = link.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  const frame = `<iframe src="${source}" title="Headlight" width="100%" height="760" style="border: 0" sandbox="allow-scripts allow-same-origin"></iframe>`;
  await menuOf(page).copy(frame, `The frame for another page is copied. ${notes}`);
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
  const { meta } = await askRoute(page, "export_origin", asked);
  return meta.provenance;
}

/** The question with the heads that are shown of its answer. @param {ExplorePage} page */
function shownSide(page) {
  const heads = currentGroup(page) ? selectedHeads(page) : [];
  return { question: page.state.question, attention_group: page.state.choice.attention, heads };
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
  page.reporter.submit(withVariant(state)); // the page checks every choice, and hands back what fits
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
  const name = overview ? `all-heads-${currentGroup(page).name}` : fileName(page);
  menu?.say(await saveFigure(figure, metadata, name, form, pdfWriter(page)));
}

/** What stands above the tabs. @param {ExplorePage} page @param {AnswerExport} answer @param {FigureForm} form */
async function exportAnswer(page, answer, form) {
  const drawing = await answer.drawing();
  const { meta } = await askRoute(page, "export_origin", { sides: [shownSide(page)], shown: drawing.shown });
  const metadata = originOf(page, meta.provenance, meta.sides[0]);
  const { foot, ...options } = menuOf(page).figureOptions;
  const figure = answer.figure({ ...options, foot: foot ? metadata.line : "" }, drawing);
  menuOf(page).say(await saveFigure(figure, metadata, drawing.name, form, pdfWriter(page)));
}

/** @param {ExplorePage} page */
function pdfWriter(page) {
  return (/** @type {ExportPdfRequest} */ request) => fetchFile(page, "export_pdf", request);
}

/** A page for a class, to be changed and printed. @param {ExplorePage} page */
async function saveWorksheet(page) {
  const metadata = await figureMetadata(page, false);
  // Its questions speak of rows and columns.
  const options = { width: WORKSHEET_WIDTH, title: menuOf(page).figureOptions.title, foot: "" };
  const figure = figureSvg(await createPictureFigure(page, options, "heatmap"), metadata);
  const { link, notes } = await linkTo(page, {});
  const words = { figure, link, line: metadata.line, omitted: notes };
  await saveFileFrom(page, "export_worksheet", { ...shownRequest(page), ...words });
  menuOf(page).say("The worksheet is saved. Open it to change the questions, and print it.");
}

/** What a figure says of itself, in words and as JSON. @param {ExplorePage} page @param {boolean} all heads, not the picture */
async function figureMetadata(page, all) {
  const { meta } = await askRoute(page, "export_provenance", { ...shownRequest(page), all_heads: all });
  return originOf(page, meta.provenance, meta.provenance_parts);
}

/** @param {ExplorePage} page @param {object} provenance @param {string[]} parts the same in words */
function originOf(page, provenance, parts) {
  const changes = editsInWords(page.state, page.state.choice.edits);
  return { line: provenanceLine(parts, changes), fields: JSON.stringify({ ...provenance, changes }) };
}

/**
 * @template {FileRoute} Name @param {ExplorePage} page @param {Name} route @param {Routes[Name]["request"]} request
 */
async function saveFileFrom(page, route, request) {
  const file = await fetchFile(page, route, request);
  saveBlob(file.name, file);
  menuOf(page).say(`${file.name} is saved.`);
}

/** @param {ExplorePage} page @param {"python" | "shell"} language */
async function copyProgram(page, language) {
  const { meta } = await askRoute(page, "export_code", shownRequest(page));
  await menuOf(page).copy(
    meta[language],
    language === "python" ? "The Python program is copied." : "The lines for a shell are copied.",
  );
}

/** By what a saved page finds its picture again. @param {ExplorePage} page */
function matrixKey(page) {
  return JSON.stringify(matrixQuery(page).choice);
}

/** @param {ExplorePage} page */
function headPath(page) {
  const group = currentGroup(page);
  const [[layer, head]] = group ? selectedHeads(page) : [[0, 0]];
  return group ? `${group.stack}.${layer}.${group.kind}.q[${head}]` : "logits";
}
