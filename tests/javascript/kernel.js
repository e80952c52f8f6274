// Compiles the engine's AssemblyScript to WebAssembly: `node kernel.js`; `--check` fails if kernel_code.ts is out of date.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const ENGINE = fileURLToPath(new URL("../../app/headlight_app/live/frontend/engine/", import.meta.url));
const CODE = `${ENGINE}kernel_code.ts`;
// The compiler reads and writes files called .ts and .wasm; TypeScript must not read the source, whose types are others.
/** @type {Record<string, string | Uint8Array>} */
const files = { "kernel.ts": readFileSync(`${ENGINE}kernel.as`, "utf8") };

const made = await asc.main(
  ["kernel.ts", "--outFile", "kernel.wasm", "--runtime", "stub", "--enable", "simd", "-O3", "--converge", "--noAssert"],
  {
    readFile: (name) => /** @type {string} */ (files[name] ?? null),
    writeFile: (name, contents) => {
      files[name] = contents;
    },
    listFiles: () => [],
  },
);
if (made.error) {
  console.error(`${made.stderr}${made.error}`);
  process.exit(1);
}
const base64 = Buffer.from(/** @type {Uint8Array} */ (files["kernel.wasm"])).toString("base64");
const code = `// Made of kernel.as by tests/javascript/kernel.js.\nexport const KERNEL_CODE =\n  "${base64}";\n`;
if (!process.argv.includes("--check")) writeFileSync(CODE, code);
else if (readFileSync(CODE, "utf8") !== code) {
  console.error(`${CODE} is out of date: python -m tests.javascript.node kernel`);
  process.exitCode = 1;
}
