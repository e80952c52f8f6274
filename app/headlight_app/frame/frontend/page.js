// Everything that the page draws: the component of each `Component` in Python, by its name.

import { describeScreen, titleScreen } from "../../course/frontend/room_places.js";
import { describeStep, titleStep } from "../../lesson/frontend/room_places.js";
import { defineRoom } from "../../room/frontend/room.js";

export { default as compare } from "../../compare/frontend/main.js";
export { default as course } from "../../course/frontend/main.js";
export { default as explore } from "../../explore/frontend/main.js";
export { default as generate } from "../../generate/frontend/main.js";
export { default as lesson } from "../../lesson/frontend/main.js";
export { default as tasks } from "../../tasks/frontend/main.js";
export { default as views_page } from "../../ui/frontend/views/page/views_page.js";
export { default as help } from "./help.js";
export { default as model_picker } from "./model_picker.js";
export { default as model_variant } from "./model_variant.js";
export { default as presenter_mode } from "./presenter_mode.js";
export { default as scenes } from "./scenes/scenes.js";

export const room = defineRoom(
  new Map([
    ["course", { title: titleScreen, question: describeScreen }],
    ["lesson", { title: titleStep, question: describeStep }],
  ]),
);
