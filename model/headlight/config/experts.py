"""ExpertsConfig: a mixture of experts instead of the feed-forward network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headlight.config.bounds import MAX_WIDTH
from headlight.errors import ConfigError

MAX_EXPERTS = 2**12


@dataclass(frozen=True, kw_only=True)
class ExpertsConfig:
    """Mixture of experts instead of the feed-forward network (Shazeer et al. 2017).

    A router scores the experts for each token; the token goes to those with the largest shares.
    """

    count: int = 0  # 0: no experts
    per_token: int = 2  # experts that a token goes to
    d_ff: int = 0  # neurons of each expert; 0: the model's d_ff
    dense_layers: tuple[int, ...] = ()  # the layers that have an ordinary network instead
    scoring: Literal["softmax", "sigmoid"] = "softmax"  # turns the router's scores into shares
    normalized: bool = True  # the shares of a token's experts are divided by their sum
    share_scale: float = 1.0  # multiplies the shares, after that
    share_of_input: bool = False  # a share multiplies what the expert reads, not what it writes (Llama 4)
    groups: int = 1  # of experts, equally large (DeepSeek-V2)
    chosen_groups: int = 1  # the number of groups whose experts a token may go to
    group_best: int = 1  # a group is chosen by the sum of its best shares; this is their number
    choice_bias: bool = False  # a learned number per expert affects the choice, but not the shares (DeepSeek-V3)
    shared_d_ff: int = 0  # neurons of an additional expert that reads every token; 0: none
    shared_gate: bool = False  # a sigmoid of a linear map multiplies its output (Qwen3-Next)
    # The experts have norms of their own before and after, and so has the expert that reads every token, which has d_ff
    # neurons; all read the unnormed residual stream, the router divided by its root mean square (Gemma 4).
    own_norms: bool = False
    bias: bool = False  # the linear maps of experts and router have biases
    up_offset: float = 0.0  # added to the linear half of each expert (gpt-oss)
    limit: float = 0.0  # clip the gate to at most this, the linear half to [-limit, limit] (gpt-oss); 0: no limit

    def check(self) -> None:
        """Raise ConfigError for sizes that are out of range or do not fit together."""
        if not (0 <= self.count <= MAX_EXPERTS and (not self.count or 1 <= self.per_token <= self.count)):
            raise ConfigError(
                f"experts.count is {self.count} and experts.per_token {self.per_token}; there are at most "
                f"{MAX_EXPERTS:,} experts, and a token goes to at least one of them."
            )
        if self.own_norms and self.shared_d_ff:
            raise ConfigError(
                f"experts.shared_d_ff is {self.shared_d_ff}; with experts.own_norms the expert that reads every token "
                "has d_ff neurons."
            )
        size, rest = divmod(self.count, max(self.groups, 1))
        enough = size >= self.group_best and self.per_token <= self.chosen_groups * size
        if self.count and (rest or not 1 <= self.chosen_groups <= self.groups or not enough):
            raise ConfigError(
                f"experts.groups is {self.groups} for {self.count} experts, of which {self.chosen_groups} are chosen; "
                f"groups must have equal sizes, and the chosen ones at least {self.per_token} experts together."
            )
        widths = {"experts.d_ff": self.d_ff, "experts.shared_d_ff": self.shared_d_ff}
        if too_wide := [name for name, width in widths.items() if not 0 <= width <= MAX_WIDTH]:
            raise ConfigError(f"{too_wide[0]} is {widths[too_wide[0]]}; it must be from 0 to {MAX_WIDTH:,}.")
