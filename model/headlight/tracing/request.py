"""RunRequest: the input that a run reads, the edits that it applies, and the values that it records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from headlight.config import Config
from headlight.nn.hooks import QUERY_KEY_HOOK_POINTS, HookScope, hook_scope
from headlight.nn.transformer import Transformer
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded, TextPair, Tokenizer
from headlight.tracing.inputs import (
    ModelInput,
    apply_mask_tokens,
    encode_input,
    encode_source,
)
from headlight.tracing.interventions import (
    Intervention,
    InterventionHook,
    InterventionLike,
    native_edits,
    parse_interventions,
)
from headlight.tracing.live_edits import LiveEdit, LiveHook, is_patch, parse_patch
from headlight.tracing.recording import RecordingHook
from headlight.tracing.trace import Trace

ATTENTION_BYTES_BUDGET = 512 << 20  # for the query x key values of a trace, unless requested by name
# Recorded values of a long text: enough to recompute all others (model/headlight/tracing/recompute.py).
RECOMPUTE_FROM = ("*.self.input", "*.cross.input", "*.residual", "*.final_residual")


@dataclass(frozen=True)
class RunRequest:
    """The inputs of a run, the edits, and the patterns of the paths to record (None: all)."""

    text: Encoded
    source: Encoded | None
    edits: tuple[Intervention, ...]
    keep: tuple[str, ...] | None
    live: tuple[LiveEdit, ...] = ()

    @classmethod
    def encode(
        cls,
        model: Transformer,
        tokenizer: Tokenizer,
        text: ModelInput,
        interventions: Sequence[InterventionLike] = (),
        source: ModelInput | None = None,
        masked_positions: Sequence[int] = (),
        keep: Sequence[str] | None = None,
        hook: LiveHook | None = None,
        runs: Mapping[str, Trace] = MappingProxyType({}),
    ) -> RunRequest:
        """The arguments of `run`, encoded and checked."""
        if task_of(model.config).whole_text and isinstance(source, (str, TextPair)):
            text = text or source
        encoded = apply_mask_tokens(encode_input(model, tokenizer, text), masked_positions, tokenizer)
        source_encoded = encode_source(model, tokenizer, source)
        if keep is None and attention_bytes(model.config, encoded, source_encoded) > ATTENTION_BYTES_BUDGET:
            keep = RECOMPUTE_FROM
        interventions = native_edits(model.config, interventions)
        edits = parse_interventions([edit for edit in interventions if not is_patch(edit)])
        values = {name: other.values for name, other in runs.items()}
        live = [parse_patch(str(edit), values) for edit in interventions if is_patch(edit)]
        live += [] if hook is None else [LiveEdit(getattr(hook, "__name__", "The hook"), hook)]
        return cls(encoded, source_encoded, edits, None if keep is None else tuple(keep), tuple(live))

    @property
    def wants_logits(self) -> bool:
        """Whether logits are recorded or edited."""
        hook = RecordingHook(InterventionHook(self.edits, live=self.live), self.keep)
        return hook_scope(hook, "logits") is not HookScope.NONE


def attention_bytes(
    config: Config, target: Encoded, source: Encoded | None, arrays: int = len(QUERY_KEY_HOOK_POINTS)
) -> int:
    """The bytes of `arrays` query x key values in every layer and head, in 32 bits."""
    source_length, length = len(source.ids) if source else 0, len(target.ids)
    cells = config.heads * config.layers * length * (length + source_length)
    encoder_cells = config.for_stack("encoder").heads * config.num_layers("encoder") * source_length**2 if source else 0
    return 4 * arrays * (cells + encoder_cells)
