// The part of AssemblyScript's compiler that kernel.js uses; its own declarations clash with those of the browser.
interface Files {
  readFile(name: string): string | null;
  writeFile(name: string, contents: string | Uint8Array): void;
  listFiles(folder: string): string[];
}
declare const asc: {
  main(options: string[], files: Files): Promise<{ error: Error | null; stderr: { toString(): string } }>;
};
export default asc;
