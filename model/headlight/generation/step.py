"""One step of generation: what it records, and the token it samples for one of the positions that may come next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from headlight.array_types import Float
from headlight.config import Config
from headlight.generation.sampling import SamplingConfig
from headlight.nn.hook_points import hook_point_of
from headlight.rendering.notebook import Trace
from headlight.text.tokenizer import Encoded
from headlight.tracing.interventions import Intervention, InterventionHook
from headlight.tracing.run import RecordingHook


@dataclass(frozen=True, eq=False)
class GenerationStep(Trace):
    """One step of generation: the values of the tokens read in it, from `start` on, and the token sampled from them.

    `position` is where the chosen token goes: the next position, or that of a mask.
    """

    start: int = 0
    position: int = 0
    chosen_token: int = 0


class StepRecorder(RecordingHook):
    """The hook of a step that reads the tokens from `start` on: edits values, and records those that match `keep`.

    With `rows` it keeps only these positions of the values with a query axis in the predicting stack.
    """

    def __init__(
        self,
        config: Config,
        edits: Sequence[Intervention],
        keep: Sequence[str] | None,
        rows: Sequence[int] | None,
        start: int = 0,
    ) -> None:
        self.edits = InterventionHook(edits, start)
        super().__init__(self.edits, keep)
        self.config, self.rows, self.start = config, rows, start

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value after the edits, recorded where it is to be kept."""
        value = super().__call__(path, value)
        if path in self.values and self._has_rows(path):
            self.values[path] = value[:, :, list(self.rows or ())]
        return value

    def sample(
        self,
        text: Encoded,
        source: Encoded | None,
        logits: Float[Tensor, "candidate token"],
        positions: Sequence[int],
        sampling: SamplingConfig,
        number: int,
    ) -> GenerationStep:
        """Step `number`: a token for one of `positions`, whose most probable token is the most certain.

        Chang et al. 2022, section 3.2; of the values of `rows`, which are those of `positions`, its row remains.
        """
        candidates = logits.float().cpu()
        surest = int(candidates.softmax(-1).amax(-1).argmax())
        return GenerationStep(
            self.config,
            text,
            source,
            {path: value[:, [surest]] if self._has_rows(path) else value for path, value in self.arrays().items()},
            tuple(map(str, self.edits.interventions)),
            start=self.start,
            position=positions[surest],
            chosen_token=sampling.sample(candidates[surest].numpy(), number).chosen,
        )

    def _has_rows(self, path: str) -> bool:
        """Whether only some positions of a value are kept."""
        in_predicting_stack = path.startswith(f"{self.config.stacks[-1]}.")
        return self.rows is not None and in_predicting_stack and "query" in hook_point_of(path).axes
