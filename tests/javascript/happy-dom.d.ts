// What dom.js uses of happy-dom, whose own declarations need other types of Node.

/** A window with a document of its own. */
export const Window: new (options: {
  url: string;
  width: number;
  height: number;
}) => globalThis.Window & typeof globalThis;
