// What a room leaves to its teacher as files: the answers of the class, and the hand-ins.

import { csvCell, saveBlob, saveFile } from "../../ui/frontend/dom/clipboard.ts";
import { askRoute, failureText, fetchFile } from "../../ui/frontend/server.ts";
import type { QuestionCounts } from "./contract.ts";
import { labelOf } from "./counts.ts";
import type { Judged, Places } from "./places.ts";

type Named = { name: string; file: string };

const HEADS = ["place", "question", "numbers", "answer", "right", "mistake", "students"];
const PORTION = 10; // hand-ins that are graded by one request, which has a minute

/** Save how many students gave which first answer, with its mark. */
export async function saveResults(code: string, places: Places, questions: QuestionCounts[]) {
  const counted: Map<string, number> = new Map(); // students by the cells before
  for (const counts of questions) {
    const title = await places.title(counts.place);
    for (const answer of await places.judge(counts, true)) {
      const row = csvLine([title, ...cellsOf(answer)]);
      counted.set(row, (counted.get(row) ?? 0) + answer.count);
    }
  }
  const rows = [...counted].map(([row, count]) => `${row},${count}`);
  saveFile(`room-${code}.csv`, "text/csv", [csvLine(HEADS), ...rows].join("\r\n"));
}

/** The question, its variant, the answer and its mark, which is empty for what cannot be marked. */
function cellsOf({ name, variant, question }: Judged) {
  const isMarked = question?.given && question.is_right !== null;
  const mark = isMarked ? [question.is_right ? "yes" : "no", question.mistake] : ["", ""];
  return [question?.text ?? "", variant, labelOf(question, name), ...mark];
}

/** Save the grades of all hand-ins, or the files themselves. */
export async function saveHandIns(api: string, code: string, format: "csv" | "zip") {
  const { files } = (await askRoute(api, "room_hand_ins", { code })).meta;
  const named = files.map(({ place, number, file }) => ({ name: `${place.split("/")[1]}-${number}.json`, file }));
  if (format === "zip") {
    const made = await fetchFile(api, "lesson_collect", { files: named, format });
    return saveBlob(made.name, made);
  }
  const head = await (await fetchFile(api, "lesson_collect", { files: [], format })).text();
  const lines: string[] = [];
  for (let start = 0; start < named.length; start += PORTION)
    lines.push(await gradeLines(api, named, start, PORTION, head.split(",").length));
  saveFile("grades.csv", "text/csv", head + lines.join(""));
}

/** Some lines of the table. If the server refuses them, as one that takes too long, each is asked for alone. */
async function gradeLines(api: string, files: Named[], start: number, count: number, columns: number): Promise<string> {
  try {
    const asked = { files, format: "csv", start, count, has_head: false } as const;
    return await (await fetchFile(api, "lesson_collect", asked)).text();
  } catch (error) {
    if (error instanceof TypeError) throw error; // the network
    const empty: string[] = Array(columns - 2).fill("");
    if (count === 1) return `${csvLine([files[start].name, ...empty, failureText(error)])}\n`;
    const lines: string[] = [];
    for (let at = start; at < Math.min(start + count, files.length); at++)
      lines.push(await gradeLines(api, files, at, 1, columns));
    return lines.join("");
  }
}

function csvLine(cells: string[]) {
  return cells.map(csvCell).join(",");
}
