// Export of the displayed view: figures and numbers, a link, a self-contained HTML file, a worksheet, programs.

import { saveBlob } from "../../../ui/frontend/dom/clipboard.ts";
import { findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { figureSvg } from "../../../ui/frontend/export/figure_files.ts";
import { explained, PageExport } from "../../../ui/frontend/export/page_export.ts";
import { activePlot } from "../../../ui/frontend/heads/head_panel.ts";
import { askRoute, fetchFile } from "../../../ui/frontend/server.ts";
import { matrixQuery } from "../../../ui/frontend/state/head_matrix.ts";
import { currentGroup, selectedHeads } from "../../../ui/frontend/state/head_selection.ts";
import { ledgerDrawing } from "../prediction/explanations.ts";
import { shownSide } from "../shown_run.ts";
import { activeTab, exportOpenTab } from "../tabs.ts";
import type { ExplorePage, FileRoute, Routes, ShownDrawing, ShownView } from "../types.ts";
import { allHeadsDrawing, headsDrawing } from "./drawings.ts";

const WORKSHEET_SIZE = { width: 85 }; // millimetres, of the figure
const ANSWER = "the answer to the task";
const PICTURE = "this picture";
const MAP = "the map of the chosen heads";
const LEDGER = "who wrote the clicked score";
const ALL_HEADS = "all heads, with each layer's numbers";

/** @returns ends it */
export function createExportMenu(page: ExplorePage, place: ParentNode): () => void {
  const path = findByTestId(place, "export-path", HTMLInputElement);
  const exported = new PageExport(place, page.server.api, {
    isReady: () => page.state.latestAnswer !== null,
    collect: () => shownView(page),
    share: () => ({
      page: page.state.catalogue,
      chosen: { state: { ...page.state.settings, ...page.state.told } }, // the model generates its target again
      sides: () => [{ ...shownSide(page), question: page.state.question }],
      program: () => program(page, "python"),
      open: async (state) => page.reporter.submit({ ...state }), // the page checks every choice, and returns what fits
    }),
    others: {
      title: "of the picture of heads, or of a path",
      choose(chosen) {
        path.hidden = !chosen;
        path.placeholder = `of the picture; or of a path: ${headPath(page)}`;
      },
      save: (format) => saveFileFrom(page, "export_numbers", { ...shownRequest(page), format, path: path.value }),
    },
  });
  const { menu } = exported;
  menu.listen({
    page: async () => {
      const view_key = JSON.stringify(matrixQuery(page).choice); // the key of the view in the saved page
      menu.say(`${await saveFileFrom(page, "export_page", { ...shownRequest(page), view_key })} is saved.`);
    },
    worksheet: () => saveWorksheet(page, exported),
    shell: async () => menu.copy(await program(page, "shell"), "The shell commands are copied."),
  });
  return () => exported.end();
}

/** The current choices for export; the answer comes first, as on the page. */
async function shownView(page: ExplorePage): Promise<ShownView> {
  const hasHeads = Boolean(currentGroup(page));
  const { drawing: answer, why: noAnswer } = await tried(async () => page.view.exportAnswer());
  const { drawing: tab, why } = await openTab(page);
  const picture = hasHeads && activeTab(page) === "heads" ? () => headsDrawing(page) : tab && (() => tab);
  const ledger = activeTab(page) === "heads" && hasHeads ? await ledgerDrawing(page).catch(() => null) : null;
  const isMap = activeTab(page) === "heads" && activePlot(page) === "heatmap";
  return {
    sides: [shownSide(page)],
    charts: {
      ...(answer && { [ANSWER]: () => answer }),
      ...(picture && { [PICTURE]: picture }),
      ...(ledger && { [LEDGER]: () => ledger }),
      ...(hasHeads && !isMap && { [MAP]: () => headsDrawing(page, "heatmap") }),
      ...(hasHeads && { [ALL_HEADS]: () => allHeadsDrawing(page) }),
    },
    tables: Object.assign({}, ...[answer, tab, ledger].map((each) => each && explained(each.tables, each.shown))),
    note: [noAnswer, why].filter(Boolean).join(" "),
  };
}

/** The drawing of the open tab if it is not Heads, or why there is none. */
async function openTab(page: ExplorePage): Promise<{ drawing: ShownDrawing | null; why: string }> {
  if (activeTab(page) === "heads") return { drawing: null, why: "" };
  const { drawing, why } = await tried(() => exportOpenTab(page));
  const steps = "Steps are formulas and values, not a figure. Save a value as numbers, by its path.";
  return { drawing, why: drawing || why ? why : steps };
}

async function tried(draw: () => Promise<ShownDrawing | null>) {
  try {
    return { drawing: await draw(), why: "" };
  } catch (error) {
    return { drawing: null, why: error instanceof Error ? error.message : String(error) };
  }
}

/** The request for a file: the question, and all choices. */
function shownRequest(page: ExplorePage) {
  const { question, settings, choice } = page.state;
  return { question, state: { ...settings, ...choice } };
}

/** Saves a page for a class to edit and print; its questions refer to rows and columns, so its figure is a map. */
async function saveWorksheet(page: ExplorePage, exported: PageExport) {
  const { menu, share } = exported;
  const options = { size: WORKSHEET_SIZE, title: menu.figureOptions.title, foot: false };
  const drawing = await headsDrawing(page, "heatmap");
  const { figure, metadata } = await exported.figure({ sides: [shownSide(page)] }, drawing, options);
  const { link, notes } = await share.link();
  const words = { figure: figureSvg(figure, metadata), link, line: metadata.line, omitted: notes };
  await saveFileFrom(page, "export_worksheet", { ...shownRequest(page), ...words });
  menu.say(`The worksheet is saved. Open it to change the questions, and print it. ${notes}`.trim());
}

/** Saves a file; returns its name. */
async function saveFileFrom<Name extends FileRoute>(page: ExplorePage, route: Name, request: Routes[Name]["request"]) {
  const file = await fetchFile(page.server.api, route, request);
  saveBlob(file.name, file);
  return file.name;
}

async function program(page: ExplorePage, language: "python" | "shell") {
  const { meta } = await askRoute(page.server.api, "export_code", shownRequest(page));
  return meta[language];
}

function headPath(page: ExplorePage) {
  const group = currentGroup(page);
  const [[layer, head]] = group ? selectedHeads(page) : [[0, 0]];
  return group ? `${group.stack}.${layer}.${group.kind}.q[${head}]` : "logits";
}
