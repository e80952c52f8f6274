// What a page without a server can answer; what needs more is absent from it.

export const ROUTES = [
  "trace",
  "head_view",
  "head_matrix",
  "head_metrics",
  "query_key_weights",
  "walkthrough",
  "generate",
] as const;

/** The quantities of a head that need only what runs record. */
export const QUANTITIES = [
  "weights",
  "scores",
  "masked_scores",
  "rollout",
  "minus_head",
  "minus_trained",
  "minus_text",
] as const;
