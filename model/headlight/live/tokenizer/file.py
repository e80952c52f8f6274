"""Everything that a page without a server needs to know of a tokenizer, as JSON.

The page reads it by app/headlight_app/live/frontend/tokenizer. Pairs of texts, chats, languages of a translator and
the tokenizers of a program of their own (fastBPE, Marian, ByT5) are not in it.
"""

from __future__ import annotations

import json
from typing import Any

from headlight.errors import CheckpointError, shortened
from headlight.live.tokenizer.steps import Step, decoder_steps, normalizer_steps, pre_tokenizer_steps, word_pattern
from headlight.text.tokenizer import Tokenizer


def tokenizer_file(tokenizer: Tokenizer) -> dict[str, Any]:
    """The tokenizer's file. Raises CheckpointError if a page without a server cannot read texts as it does."""
    if type(tokenizer) is not Tokenizer or tokenizer.target_tokenizer is not tokenizer:
        raise CheckpointError("Its tokenizer is a program of its own, which a page without a server does not have.")
    if tokenizer.languages:
        raise CheckpointError("Its tokenizer reads texts in several languages, which a page without a server does not.")
    values = json.loads(tokenizer.to_bytes())
    added = [_added_token(tokenizer, token) for token in values["added_tokens"]]
    return {
        "tokens": _tokens(values["model"]),
        "added": added,
        "word": word_pattern() if any(token["single"] for token in added) else "",
        "splitsSpecial": bool(tokenizer.backend.encode_special_tokens),
        "normalizer": normalizer_steps(values["normalizer"]),
        "preTokenizer": pre_tokenizer_steps(values["pre_tokenizer"]),
        "model": _model(values["model"]),
        "postProcessor": _post_processor(values["post_processor"]),
        "decoder": decoder_steps(values["decoder"]),
        "vocabularySize": tokenizer.vocabulary_size,
        "modelSize": tokenizer.model_size,
        "uncountedIds": sorted(tokenizer.uncounted_ids),
        "hasLettersAlone": tokenizer.longest_token == 1,
        "maskId": tokenizer.mask_id,
        "endId": tokenizer.end_id,
        "unknownId": tokenizer.unknown_id,
    }


def _tokens(model: dict[str, Any]) -> list[str | None]:
    """The model's tokens by their ids; None where there is none."""
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):
        return [token for token, _ in vocabulary]
    if len(set(vocabulary.values())) < len(vocabulary):
        raise CheckpointError("Its tokenizer gives one number to two tokens, which a page without a server cannot.")
    tokens: list[str | None] = [None] * (max(vocabulary.values(), default=-1) + 1)
    for token, number in vocabulary.items():
        tokens[number] = token
    return tokens


def _added_token(tokenizer: Tokenizer, token: dict[str, Any]) -> dict[str, Any]:
    """A token that is found in a text before the model reads it; `written` is how it is written there."""
    content, is_normalized = token["content"], token["normalized"]
    written = tokenizer.normalize(content) if is_normalized else content
    if not written:
        raise CheckpointError(f"Its tokenizer makes the token {shortened(content)!r} a text without characters.")
    return {
        "id": token["id"],
        "content": content,
        "written": written,
        "special": token["special"],
        "normalized": is_normalized,
        "single": token["single_word"],
        "left": token["lstrip"],
        "right": token["rstrip"],
    }


def _model(model: dict[str, Any]) -> Step:
    """How the model splits a piece of a text; the tokens themselves stand beside it."""
    match model["type"]:
        case "WordLevel":
            return {"kind": "words", "unknown": model["unk_token"]}
        case "WordPiece":
            return {
                "kind": "pieces",
                "unknown": model["unk_token"],
                "prefix": model["continuing_subword_prefix"],
                "longest": model["max_input_chars_per_word"],
            }
        case "BPE":
            return _byte_pairs(model)
        case "Unigram":
            return {
                "kind": "unigram",
                "scores": [score for _, score in model["vocab"]],
                "unknownId": model["unk_id"],
                "fallsBack": model["byte_fallback"],
            }
    raise CheckpointError("Its tokenizer's model is of a kind that a page without a server does not have.")


def _byte_pairs(model: dict[str, Any]) -> Step:
    if model["dropout"]:
        raise CheckpointError("Its tokenizer splits texts by chance (dropout), which a page without a server does not.")
    numbers = model["vocab"]
    return {
        "kind": "pairs",
        "merges": [numbers[half] for pair in model["merges"] for half in pair],
        "unknown": model["unk_token"],
        "prefix": model["continuing_subword_prefix"] or "",
        "suffix": model["end_of_word_suffix"] or "",
        "fusesUnknown": model["fuse_unk"],
        "fallsBack": model["byte_fallback"],
        "ignoresMerges": model["ignore_merges"],
    }


def _post_processor(step: Step | None) -> list[Step]:
    """What happens to the tokens of a text: their ends are trimmed, and tokens are added around them."""
    if step is None:
        return []
    if step["type"] == "Sequence":
        return [found for each in step["processors"] for found in _post_processor(each)]
    steps = list[Step]()
    if step.get("trim_offsets"):  # of ByteLevel and RobertaProcessing
        steps.append({"kind": "trim", "keepsFirst": step["add_prefix_space"]})
    if step["type"] in ("BertProcessing", "RobertaProcessing"):
        steps.append({"kind": "around", "before": [step["cls"][1]], "after": [step["sep"][1]]})
    elif step["type"] == "TemplateProcessing":
        steps.append(_around(step))
    elif step["type"] != "ByteLevel":
        raise CheckpointError(f"Its tokenizer has the step {shortened(step['type'])!r}, which a page without a server "
                              "does not have.")  # fmt: skip
    return steps


def _around(step: Step) -> Step:
    """The ids that a template puts before and behind a text."""
    single, special = step["single"], step["special_tokens"]
    places = [place for place, piece in enumerate(single) if "Sequence" in piece]
    if len(places) != 1:
        raise CheckpointError("The template of its tokenizer leaves the text out.")
    before, after = (
        [number for piece in part for number in special[piece["SpecialToken"]["id"]]["ids"]]
        for part in (single[: places[0]], single[places[0] + 1 :])
    )
    return {"kind": "around", "before": before, "after": after}
