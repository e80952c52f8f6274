// Written from headlight_app/frame/contract.py by app/contract_types.py.

import type { MaskArgument, PartChoices } from "../../ui/frontend/contract.ts";

/** The parts by field of Variant, the masks that only a link can select, and the devices of the workers. */
export interface FrameAnswer {
  choices: Record<string, PartChoices>;
  unlisted_masks: Record<string, string>;
  mask_arguments: Record<string, MaskArgument>;
  devices: string[];
}
