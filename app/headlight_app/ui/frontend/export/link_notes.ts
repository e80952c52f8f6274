// Notes about what a link does not show to others.

import { table } from "../dom/table.ts";

const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const FIELD_NAMES: Readonly<Record<string, string>> = table({
  text: "the text",
  source: "the source",
  text_pair: "the second text",
  other_text: "the other text",
  generated: "the generated text",
  side_b: "the other side",
});

/**
 * Sentences; empty if others see the same. `omitted` are fields that are too long, `ownModel` is the title of a model
 * that only this visitor can open, `hasOwnPicture`: whether the visitor's own picture is shown.
 */
export function linkNotes(
  link: string,
  { omitted, ownModel, hasOwnPicture }: { omitted: readonly string[]; ownModel: string; hasOwnPicture: boolean },
) {
  const names = omitted.map((name) => FIELD_NAMES[name] || name).join(" and ");
  const notes = [
    names && `It leaves out ${names}, too long for a link: save the state as a file instead.`,
    ownModel &&
      `Only your browser can open ${ownModel}: others see another model in its place. Send them its files, or start headlight with --models and the folder that holds it: then all can open it.`,
    hasOwnPicture && "Your picture is not in the link: others see a shipped one in its place.",
    LOCAL_HOST.test(new URL(link).hostname) &&
      "It works on this machine only, not on a phone. For a room, start headlight --shared --host 0.0.0.0.",
  ];
  return notes.filter(Boolean).join(" ");
}
