"""GenerationConfig: when a text ends, and which tokens may not follow, according to the checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from headlight.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class GenerationConfig:
    """The rules for generation that a checkpoint brings (`headlight.generation.rules`)."""

    end_token_ids: tuple[int, ...] = ()  # each ends a text; empty: the tokenizer's end token
    repetition_penalty: float = 1.0  # of tokens that occur already (Keskar et al. 2019); 1: none
    no_repeat_ngram_size: int = 0  # no sequence of so many tokens occurs twice (Paulus et al. 2017); 0: no rule
    suppressed_token_ids: tuple[int, ...] = ()  # never chosen
    first_suppressed_token_ids: tuple[int, ...] = ()  # not chosen as the first token that is not forced
    forced_first_token_id: int | None = None  # of an encoder-decoder: follows the start token

    def check(self, vocabulary_size: int) -> None:
        """Raise ConfigError for tokens outside the vocabulary, and for numbers out of range."""
        lists = (self.end_token_ids, self.suppressed_token_ids, self.first_suppressed_token_ids)
        ids = [*(number for numbers in lists for number in numbers)]
        ids += [] if self.forced_first_token_id is None else [self.forced_first_token_id]
        outside = [number for number in ids if not 0 <= number < vocabulary_size]
        if outside:
            raise ConfigError(f"generation has the token {outside[0]}; the vocabulary has {vocabulary_size} tokens.")
        if not 1e-3 <= self.repetition_penalty <= 1e3:
            raise ConfigError(f"generation.repetition_penalty is {self.repetition_penalty}; it is from 0.001 to 1000.")
        if not 0 <= self.no_repeat_ngram_size <= 1_000:
            raise ConfigError(f"generation.no_repeat_ngram_size is {self.no_repeat_ngram_size}; it is at most 1,000.")
