// Everything that the page draws: the component of each `Component` in Python, by its name.

import { describeScreen, titleScreen } from "../../course/frontend/room_places.ts";
import { describeStep, titleStep } from "../../lesson/frontend/room_places.ts";
import { defineRoom } from "../../room/frontend/room.ts";

export { default as compare } from "../../compare/frontend/main.ts";
export { default as course } from "../../course/frontend/main.ts";
export { default as explore } from "../../explore/frontend/main.ts";
export { default as generate } from "../../generate/frontend/main.ts";
export { default as lesson } from "../../lesson/frontend/main.ts";
export { default as tasks } from "../../tasks/frontend/main.ts";
export { default as views_page } from "../../ui/frontend/views/page/views_page.ts";
export { default as help } from "./help.ts";
export { default as model_picker } from "./model_picker.ts";
export { default as model_variant } from "./model_variant.ts";
export { default as presenter_mode } from "./presenter_mode.ts";
export { default as scenes } from "./scenes/scenes.ts";

export const room = defineRoom(
  new Map([
    ["course", { title: titleScreen, question: describeScreen }],
    ["lesson", { title: titleStep, question: describeStep }],
  ]),
);
