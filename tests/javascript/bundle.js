// Bundles the modules into the scripts of the page, of a saved page, and of a live page and its worker: `node bundle.js`.
//
// The files are committed, so that the app runs without Node. `node bundle.js --check` fails if they are out of date.
// `node bundle.js --imports` writes neither: it prints all modules with their imports, as JSON.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** @import { BuildOptions, Metafile } from "esbuild" */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** @type {(BuildOptions & { outfile: string })[]} */
const BUNDLES = [
  {
    entryPoints: ["app/headlight_app/frame/frontend/page.ts"],
    outfile: `${ROOT}app/headlight_app/frame/static/page.bundle.js`,
    format: "esm",
    charset: "utf8",
  },
  {
    entryPoints: ["app/headlight_app/ui/frontend/standalone/standalone.ts"],
    outfile: `${ROOT}model/headlight/rendering/standalone.bundle.js`,
    format: "iife",
    charset: "ascii",
    globalName: "headlight",
    loader: { ".css": "text", ".html": "text" },
  },
  {
    entryPoints: ["app/headlight_app/live/frontend/page/live.ts"],
    outfile: `${ROOT}app/headlight_app/live/static/live.bundle.js`,
    format: "iife",
    charset: "ascii",
    globalName: "headlight",
    define: { "import.meta.url": '"about:blank"' }, // a live page has its font as a part
  },
  {
    entryPoints: ["app/headlight_app/live/frontend/page/worker.ts"],
    outfile: `${ROOT}app/headlight_app/live/static/worker.bundle.js`,
    format: "iife",
    charset: "ascii",
  },
];
const SHARED = /** @type {const} */ ({ bundle: true, minify: true, target: "es2022", legalComments: "none" });
/** @type {Metafile["inputs"]} */
const modules = {};

for (const bundle of BUNDLES) {
  const made = await build({ absWorkingDir: ROOT, ...SHARED, ...bundle, write: false, metafile: true });
  const { contents } = made.outputFiles[0];
  if (process.argv.includes("--imports")) Object.assign(modules, made.metafile.inputs);
  else if (!process.argv.includes("--check")) writeFileSync(bundle.outfile, contents);
  else if (!readFileSync(bundle.outfile).equals(contents)) {
    console.error(`${bundle.outfile} is out of date: python -m tests.javascript.node bundle`);
    process.exitCode = 1;
  }
}
if (process.argv.includes("--imports")) console.log(JSON.stringify(modules));
