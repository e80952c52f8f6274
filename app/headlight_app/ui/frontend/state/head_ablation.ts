// Switching off is an edit: of one head, or of a layer if all its heads are off.

/** The properties of an attention that edits of its heads depend on. */
type HeadGroup = {
  stack: string;
  kind: string;
  layers: number;
  heads: number;
  ablations?: Record<string, [layer: number, head: number][]>;
};

function headOffEdit({ stack, kind }: HeadGroup, layer: number, head: number) {
  return `${stack}.${layer}.${kind}.weights[${head}]=set:0`;
}

function layerOffEdit({ stack, kind }: HeadGroup, layer: number) {
  return `${stack}.${layer}.${kind}.weights=set:0`;
}

/** Whether an edit switches off a head, as stated by the server. Edits that the server has not seen were made here. */
function switchesOff(edit: string, group: HeadGroup, layer: number, head: number) {
  const heads = group.ablations?.[edit];
  if (heads) return heads.some((pair) => pair[0] === layer && pair[1] === head);
  return edit === headOffEdit(group, layer, head) || edit === layerOffEdit(group, layer);
}

export function isOff(edits: readonly string[], group: HeadGroup, layer: number, head: number) {
  return edits.some((edit) => switchesOff(edit, group, layer, head));
}

export function headsOff(edits: readonly string[], group: HeadGroup, layer: number) {
  return range(group.heads).filter((head) => isOff(edits, group, layer, head));
}

/** The edits after switching several heads off or on; all other edits keep their places. */
export function switchHeads(
  edits: readonly string[],
  group: HeadGroup,
  heads: readonly (readonly [layer: number, head: number])[],
  off: boolean,
) {
  const chosen = new Set(heads.map(String));
  const after = range(group.layers).map((layer) =>
    range(group.heads).filter((head) => (chosen.has(`${layer},${head}`) ? off : isOff(edits, group, layer, head))),
  );
  const switchesChosenOff = (edit: string) => heads.some(([layer, head]) => switchesOff(edit, group, layer, head));
  let switched = edits.filter((edit) => off || !switchesChosenOff(edit));
  after.forEach((wanted, layer) => {
    const missing = wanted.filter((head) => !isOff(switched, group, layer, head));
    if (missing.length && wanted.length === group.heads && group.heads > 1) {
      const single = range(group.heads).map((head) => headOffEdit(group, layer, head));
      switched = [...switched.filter((edit) => !single.includes(edit)), layerOffEdit(group, layer)];
    } else switched.push(...missing.map((head) => headOffEdit(group, layer, head)));
  });
  return switched;
}

function range(count: number) {
  return Array.from({ length: count }, (_, index) => index);
}
