"""The effect of switching off a head: its direct effect, the responses of later parts, and the effect of the norms.

The logit of an answer is a sum over the writers of the residual stream (`residual_stream`). Without a head its own part
is missing (the direct effect), later heads and feed-forwards write different vectors (their responses), and the norms,
above all the final one, have another scale. The three add up to the whole change. Later parts often make up for the
head: self-repair (McGrath et al. 2023, "The Hydra effect"; Rushing and Nanda 2024, who put in the head's output on
another text instead of zeros). This does not explain why a part responded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from headlight.analysis.attribution import attribute_logits, attribute_probes
from headlight.analysis.residual_stream import KEEP as STREAM_KEEP
from headlight.analysis.residual_stream import Component, Probe, per_head_output
from headlight.nn.transformer import Transformer, attention_at
from headlight.tracing.interventions import parse_interventions
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request
from headlight.tracing.trace import Trace, require_head

KEEP = (*STREAM_KEEP, "*.residual*", "*.self.output", "*.cross.output", "*.final_residual", "logits")
SELF_REPAIR = 1 / 3  # of the direct effect; larger compensation is named
NO_EFFECT = 1e-6  # of a logit
LEAST_DIRECT = 0.01  # of a logit: a share of a smaller direct effect says nothing
LEAST_SHARE = 0.1  # of the largest part: nor does one of a direct effect that is small beside another part


@dataclass(frozen=True)
class HeadRemoval:
    """The logit of an answer with a head and without it, and the parts of the difference.

    `direct` is the missing contribution of the head itself, `responses` are the changes of all other parts by their
    paths, both with the norms frozen at their earlier scale; `norms` is the effect of the new scale of the norms (and
    of edits).
    """

    before: float
    after: float
    direct: float
    responses: Mapping[str, float]
    norms: float

    @property
    def change(self) -> float:
        """The change of the logit: direct effect + responses + norms."""
        return self.after - self.before

    @property
    def _parts(self) -> dict[str, float]:
        return {"direct": self.direct, **self.responses, "norms": self.norms}

    @property
    def largest(self) -> tuple[str, float]:
        """The largest part of the difference: the path of a response, "direct" or "norms", and its change."""
        return max(self._parts.items(), key=lambda part: abs(part[1]))

    @property
    def carrier(self) -> tuple[str, float]:
        """The part that carries the change: the largest of those with its sign."""
        sign = np.sign(self.change)
        return max(self._parts.items(), key=lambda part: sign * part[1])

    @property
    def self_repair(self) -> float | None:
        """The share of the direct effect that the rest undoes: 1 undoes all, below 0 adds to it.

        None for a direct effect below LEAST_DIRECT, or below LEAST_SHARE of the largest part.
        """
        least = max(LEAST_DIRECT, LEAST_SHARE * abs(self.largest[1]))
        return 1 - self.change / self.direct if abs(self.direct) >= least else None

    @property
    def repairs_itself(self) -> bool:
        """Whether more than a third of the direct effect is undone."""
        return (self.self_repair or 0.0) > SELF_REPAIR


@torch.inference_mode()
def remove_head(model: Transformer, trace: Trace, path: str, head: int, position: int, token: int) -> HeadRemoval:
    """The change of the logit of a token (or label) at a position without a head; the trace holds KEEP.

    `path` names the attention (`decoder.3.self`). The text runs once more, with an edit that sets the head's weights to
    0. Raises EditError for a head that does not exist; otherwise raises as `attribute_logits`.
    """
    require_head(head, attention_at(model, path)[0].heads)
    edits = parse_interventions((*trace.interventions, f"{path}.weights[{head}]=set:0"))
    request = RunRequest(trace.text, trace.source, edits, KEEP, trace.live_edits)
    without = run_request(model, request, continuable=False).trace
    answer, place = np.array([token]), position % len(trace.text.ids)
    components, probes = _changes(model, trace, without, place)
    attribution = attribute_probes(model, trace, position, probes)
    logits = attribution.unedited_logits(answer)[:, 0]
    changes = logits[len(logits) - len(components) :].tolist()
    before, after = (float(attribute_logits(model, each, position).logits(answer).sum()) for each in (trace, without))
    stack = trace.config.stacks[-1]
    by_path = {component.path(stack): change for component, change in zip(components, changes, strict=True)}
    direct = by_path.pop(f"{path}[{head}]", 0.0)
    responses = {name: change for name, change in by_path.items() if abs(change) > NO_EFFECT}
    return HeadRemoval(before, after, direct, responses, after - before - direct - sum(responses.values()))


def _changes(model: Transformer, trace: Trace, without: Trace, position: int) -> tuple[list[Component], list[Probe]]:
    """The parts of the predicting stack, and the differences of their outputs at a position between two runs."""
    components: list[Component] = []
    probes: list[Probe] = []
    stack = trace.config.stacks[-1]

    def difference(path: str, index: int | tuple[slice, int]) -> torch.Tensor:
        before, after = (torch.from_numpy(each[path][index].astype(np.float64)) for each in (trace, without))
        return after - before

    for layer in range(trace.config.num_layers(stack)):
        for kind in ("self", "cross") if trace.config.has_cross_attention else ("self",):
            path = f"{stack}.{layer}.{kind}"
            weighted = difference(f"{path}.weighted_values", (slice(None), position))
            attention, _ = attention_at(model, path)
            probes.append(Probe(path, per_head_output(attention, weighted.to(attention.output.weight.device)).cpu()))
            components += [Component(kind, layer, head) for head in range(len(weighted))]
        for kind in trace.config.token_sublayers:
            path = f"{stack}.{layer}.{kind}"
            probes.append(Probe(path, difference(f"{path}.output", position)[None]))
            components.append(Component(kind, layer))
    return components, probes
