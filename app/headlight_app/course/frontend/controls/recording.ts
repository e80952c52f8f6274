// A learner's own sound: the WAV file is uploaded once, and receives a name that only this learner can use.

import { createButton, createElement } from "../../../ui/frontend/dom/dom.ts";
import { failureText, uploadFile } from "../../../ui/frontend/server.ts";
import type { RecordingControl } from "../types.ts";
import { createTitle } from "./matrix_table.ts";

export function createRecording(control: RecordingControl, api: string, change: (text: string) => void) {
  const named = { testid: `input-${control.name}`, ariaLabel: control.title };
  const file = createElement("input", "", [], { ...named, type: "file", accept: ".wav,audio/wav" });
  const label = createElement("label", "small file", ["Choose a file", file]);
  const clear = createButton("small", "Back to the tones", `clear-${control.name}`, () => change(""));
  const said = createElement("span", "quiet", [], { role: "status" });
  file.onchange = async () => {
    const [chosen] = file.files ?? [];
    file.value = ""; // the same file may be chosen again
    if (!chosen) return;
    said.textContent = "Uploading …";
    try {
      change(await uploadFile(api, chosen, "audio/wav"));
      said.textContent = chosen.name;
    } catch (error) {
      said.textContent = failureText(error);
    }
  };
  return {
    element: createElement("div", "control recording", [createTitle(control.title), label, clear, said]),
    draw: (text: string) => {
      clear.hidden = !text;
      if (!text) said.textContent = "";
    },
  };
}
