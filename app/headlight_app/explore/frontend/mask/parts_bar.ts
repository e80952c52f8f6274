// The mask and the positional encoding beside the text: a list for each, and the cells of a mask to paint.

import { find, findByTestId } from "../../../ui/frontend/dom/elements.ts";
import { remembered } from "../../../ui/frontend/dom/memory.ts";
import { paintedMask, parseMask } from "../../../ui/frontend/mask_spec.ts";
import { PartLists } from "../../../ui/frontend/variant_parts.ts";
import type { ExplorePage, Variant } from "../types.ts";
import { MaskPainter } from "./mask_painter.ts";
import { shownMask } from "./shown_mask.ts";

const memory = remembered((page: ExplorePage) => createBar(page));

export function drawPartsBar(page: ExplorePage) {
  const { lists, painter, paint, cells } = memory(page);
  const { variants, terms } = page.state.catalogue;
  const { variant } = page.state.choice;
  lists.draw(variants, variant, terms);
  const { kind, argument } = parseMask(variant.masks);
  paint.hidden = variants.mask_arguments[kind]?.control !== "cells";
  cells.hidden = paint.hidden || paint.ariaExpanded !== "true";
  if (!cells.hidden) painter.draw(page.state.latestAnswer ? shownMask(page) : null, argument);
}

function createBar(page: ExplorePage) {
  const { partsBar: place } = page.view.elements;
  const [paint, cells] = [findByTestId(place, "paint", HTMLButtonElement), find(place, '[data-part="cells"]')];
  const { mask_arguments } = page.state.catalogue.variants;
  const isCells = (masks: string) => mask_arguments[parseMask(masks).kind]?.control === "cells";
  const change = (patch: Partial<Variant>) => {
    const { variant } = page.state.choice;
    if (patch.masks !== undefined && isCells(patch.masks) && !isCells(variant.masks)) paint.ariaExpanded = "true";
    page.change({ variant: { ...variant, ...patch } });
  };
  const open = (opens: boolean) => {
    paint.ariaExpanded = String(opens);
    drawPartsBar(page);
  };
  paint.onclick = () => open(paint.ariaExpanded !== "true");
  place.onkeydown = ({ key }) => {
    if (key !== "Escape" || cells.hidden) return;
    open(false);
    paint.focus();
  };
  const painter = new MaskPainter(cells, (painted) =>
    change({ masks: paintedMask(parseMask(page.state.choice.variant.masks).base, painted) }),
  );
  const lists = new PartLists(place, change, (model) => openModel(page, model), true);
  return { lists, painter, paint, cells };
}

/** Opens a model with its own positional encoding; all other choices stay. */
function openModel(page: ExplorePage, model: string) {
  const { told } = page.state;
  page.reporter.submit({ ...told, variant: { ...told.variant, positional_encoding: "" }, model });
}
