// Written from headlight_app/frame/contract.py by app/contract_types.py.

import type { VariantChoices } from "../../ui/frontend/contract.ts";

/** What can be replaced in a model, and the devices of the workers. */
export interface FrameAnswer {
  variants: VariantChoices;
  devices: string[];
}
