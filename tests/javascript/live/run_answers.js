// Answers for the tests in Python: `node run_answers.js FOLDER` reads plan.json, weights.bin, facts.json, tokens.json and
// requests.json there, and writes the JSON parts of the answers to answers.json, and their numbers to answers.bin.

import { readFileSync, writeFileSync } from "node:fs";
import { openAnswers } from "../../../app/headlight_app/live/frontend/answers/answers.ts";
import { openEngine } from "../../../app/headlight_app/live/frontend/engine/engine.ts";
import { openTokenizer } from "../../../app/headlight_app/live/frontend/tokenizer/tokenizer.ts";

const [folder] = process.argv.slice(2);
/** @param {string} name */
const read = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));

const tokenizer = openTokenizer(read("tokens"));
const file = readFileSync(`${folder}/weights.bin`);
const weights = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
const ask = openAnswers({ engine: await openEngine(read("plan"), weights), tokenizer, facts: read("facts") });

const requests = /** @type {{ route: string, body: object }[]} */ (read("requests"));
const answers = requests.map(({ route, body }) => ask(route, body));
const told = answers.map(({ meta, numbers }) => ({ meta, count: numbers.length }));
writeFileSync(`${folder}/answers.json`, JSON.stringify(told));
writeFileSync(`${folder}/answers.bin`, Buffer.concat(answers.map(({ numbers }) => Buffer.from(numbers))));
