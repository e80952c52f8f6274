// What a room leaves to its teacher as files: the answers of the class, and the hand-ins.

import { csvCell, saveBlob, saveFile } from "../../ui/frontend/dom/clipboard.ts";
import { askRoute, fetchFile } from "../../ui/frontend/server.ts";
import type { QuestionCounts } from "./contract.ts";
import { labelOf } from "./counts.ts";
import type { Places } from "./places.ts";

const HEADS = ["place", "question", "answer", "right", "mistake", "students"];

/** Save how many students gave which first answer, with its mark. */
export async function saveResults(code: string, places: Places, questions: QuestionCounts[]) {
  const rows = [HEADS];
  for (const counts of questions) {
    const title = await places.title(counts.place);
    for (const { name, count, question } of await places.judge(counts)) {
      const mark = question?.given ? [question.is_right ? "yes" : "no", question.mistake] : ["", ""];
      rows.push([title, question?.text ?? "", labelOf(question, name), ...mark, String(count)]);
    }
  }
  saveFile(`room-${code}.csv`, "text/csv", rows.map((row) => row.map(csvCell).join(",")).join("\r\n"));
}

/** Save the grades of all hand-ins, or the files themselves. */
export async function saveHandIns(api: string, code: string, format: "csv" | "zip") {
  const { files } = (await askRoute(api, "room_hand_ins", { code })).meta;
  const named = files.map(({ place, number, file }) => ({ name: `${place.split("/")[1]}-${number}.json`, file }));
  const made = await fetchFile(api, "lesson_collect", { files: named, format });
  saveBlob(made.name, made);
}
