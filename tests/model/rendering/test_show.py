"""show(): the attention of any library, cell by cell, and a message for unsupported input."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight import DataError, save, show
from headlight.cli.main import main
from headlight.errors import OutputError
from headlight.rendering.html import HtmlView
from headlight.rendering.show import NOWHERE, open_file
from tests.model import toys
from tests.model.toys import traced
from tests.shell import Shell

TOKENS = ["the", "cat", "sat", "on", "it"]


def weights(layers: int = 2, heads: int = 3, queries: int = 5, keys: int = 5, causal: bool = True) -> np.ndarray:
    """Rows that sum to 1."""
    scores = np.random.default_rng(0).normal(size=(layers, heads, queries, keys)).astype(np.float32)
    found = np.exp(scores) * (np.tri(queries, keys, keys - queries) if causal else 1)
    found /= found.sum(-1, keepdims=True)
    return np.asarray(found, np.float32)


def shown(view: HtmlView, group: int = 0) -> np.ndarray:
    """The weights stored in a view, 0 in cells masked in every head."""
    meta, numbers = view.meta, view.numbers
    shapes = [(each["layers"], each["heads"], each["rows"], each["columns"]) for each in meta["attention_groups"]]
    sizes = [int(np.prod(shape)) for shape in shapes]
    exact: np.ndarray = np.frombuffer(numbers, "<f4", offset=-(-sum(sizes) // 4) * 4)
    found: np.ndarray = np.nan_to_num(exact[sum(sizes[:group]) : sum(sizes[: group + 1])].reshape(shapes[group]))
    return found


def keys_of(view: HtmlView) -> list[str]:
    return [token["text"] for token in view.meta["source_tokens"] or view.meta["tokens"]]


class Exchanged:
    """An array accessible only through DLPack."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: Any) -> object:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self.tensor.__dlpack_device__()


class Cache:
    """Mimics TransformerLens' ActivationCache: keys, items by name, iteration over values."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def keys(self) -> Any:
        return self.values.keys()

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@pytest.mark.parametrize(
    "given",
    [
        lambda found: found,
        lambda found: found[:, None],
        lambda found: found.tolist(),
        lambda found: [torch.tensor(layer)[None].requires_grad_() for layer in found],
        lambda found: tuple(layer for layer in found),
        lambda found: [Exchanged(torch.tensor(layer)) for layer in found],
        lambda found: {"attentions": tuple(torch.tensor(layer)[None] for layer in found)},
        lambda found: Cache(
            {f"blocks.{layer}.attn.hook_pattern": torch.tensor(found[layer])[None] for layer in (1, 0)}
            | {"blocks.0.attn.hook_q": torch.zeros(1)}
        ),
    ],
)
def test_every_weight_is_shown_whatever_it_came_in(given: Callable[[np.ndarray], Any]) -> None:
    found = weights()
    view = show(given(found), TOKENS)
    np.testing.assert_allclose(shown(view), found, atol=1e-7)
    assert keys_of(view) == TOKENS and view.meta["source_tokens"] is None
    assert {"previous", "entropy"} <= set(view.meta["attention_groups"][0]["metrics"])


@pytest.mark.parametrize("wrap", [lambda tensor: tensor, Exchanged])
def test_bfloat16_is_read_and_its_rounding_is_no_sink(wrap: Callable[[torch.Tensor], Any]) -> None:
    found = torch.tensor(weights(queries=64, keys=64)).bfloat16()
    view = show([wrap(layer) for layer in found], [str(place) for place in range(64)])
    np.testing.assert_array_equal(shown(view), found.float().numpy())


def test_leading_axes_may_be_missing() -> None:
    found = weights()
    np.testing.assert_array_equal(shown(show(found[0], TOKENS)), found[:1])
    np.testing.assert_array_equal(shown(show(found[0, 0], TOKENS)), found[:1, :1])


def test_cross_attention_has_the_tokens_of_its_keys() -> None:
    found = weights(keys=3, causal=False)
    view = show([torch.tensor(layer)[None] for layer in found], TOKENS, ["a", "b", "c"])
    np.testing.assert_array_equal(shown(view), found)
    assert keys_of(view) == ["a", "b", "c"] and [token["text"] for token in view.meta["tokens"]] == TOKENS


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("tokens", [TOKENS, [*TOKENS, "last"]])
def test_the_steps_of_generate_become_one_map(cached: bool, tokens: list[str]) -> None:
    found = weights()

    def rows(layer: int, step: int) -> torch.Tensor:
        end = 3 + step
        return torch.tensor(found[layer, :, end - 1 if cached and step else 0 : end, :end])[None]

    steps = tuple(tuple(rows(layer, step) for layer in range(2)) for step in range(3))
    np.testing.assert_array_equal(shown(show(steps, tokens)), found)


def test_the_steps_of_an_encoder_decoder_have_all_keys_from_the_start() -> None:
    found = weights(queries=3, keys=4, causal=False)
    steps = tuple(
        tuple(torch.tensor(found[layer, :, step : step + 1])[None] for layer in range(2)) for step in range(3)
    )
    np.testing.assert_array_equal(shown(show(steps, TOKENS[:3], list("abcd"))), found)


def test_a_cache_of_a_fixed_size_and_a_window_give_the_same_columns() -> None:
    found = weights(layers=1)
    fixed = [torch.tensor(np.pad(found[0, :, :3, :3], ((0, 0), (0, 0), (0, 5))))[None]]
    fixed += [torch.tensor(np.pad(found[0, :, row : row + 1], ((0, 0), (0, 0), (0, 3))))[None] for row in (3, 4)]
    np.testing.assert_array_equal(shown(show(tuple((step,) for step in fixed), TOKENS)), found)
    window = [torch.tensor(found[0, :, :3, :3])[None], *(torch.full((1, 3, 1, 2), 0.5) for _ in range(2))]
    last = shown(show(tuple((step,) for step in window), TOKENS))[0, 0, -1]
    assert last.tolist() == [0, 0, 0, 0.5, 0.5]


def test_a_layer_with_a_window_has_the_last_keys_and_one_without_weights_is_empty() -> None:
    found = weights(causal=False)
    view = show([found[0], None, np.full((3, 5, 2), 0.5, np.float32)], TOKENS)
    np.testing.assert_array_equal(shown(view)[0], found[0])
    assert not shown(view)[1].any() and (shown(view)[2, 0, 0] == [0, 0, 0, 0.5, 0.5]).all()


def test_what_rows_lack_stands_in_a_column_of_its_own() -> None:
    found = weights() * 0.75
    view = show(found, TOKENS)
    assert keys_of(view) == [*TOKENS, NOWHERE] and "nowhere" in view.meta["notes"][0]
    np.testing.assert_allclose(shown(view)[..., -1], 0.25, atol=1e-6)
    assert "previous" in view.meta["attention_groups"][0]["metrics"]
    cross = show(found, TOKENS, list("abcde"))
    assert keys_of(cross) == [*"abcde", NOWHERE] and set(cross.meta["attention_groups"][0]["metrics"]) == {"entropy"}


def test_nothing_is_said_that_is_not_known() -> None:
    (line,) = show(weights(), TOKENS).meta["provenance_parts"]
    assert line.startswith("Headlight ") and "mask" not in line
    assert set(show(weights(), TOKENS).meta["provenance"]) == {"version", "date"}


NOT_A_NUMBER = weights()
NOT_A_NUMBER[1, 2, 3, 0] = np.nan


@pytest.mark.parametrize(
    ("attention", "tokens", "sentence"),
    [
        (None, TOKENS, 'attn_implementation="eager"'),
        ((), TOKENS, 'attn_implementation="eager"'),
        ((None, None), TOKENS, 'attn_implementation="eager"'),
        ("weights", TOKENS, "A str is not attention"),
        (3, TOKENS, "A int is not attention"),
        ({"logits": 1}, TOKENS, "neither blocks.N.attn.hook_pattern"),
        ({"cross_attentions": 1, "decoder_attentions": 1}, TOKENS, "Give one of cross_attentions"),
        (weights()[0, 0, 0], TOKENS, r"shape \(5,\)"),
        (np.array("x"), TOKENS, "not numbers"),
        ([torch.ones(4, 3, 5, 5)], TOKENS, "batch of 4"),
        (np.ones((2, 4, 3, 5, 5)), TOKENS, r"batch of 4 texts; show one of them: attention\[:, 0\]"),
        ([np.ones((5, 5))], TOKENS, r"Layer 0 has the shape \(5, 5\)"),
        ([weights()[0], weights(heads=4)[0]], TOKENS, "Layer 1 has 4 heads and layer 0 has 3"),
        ([weights()[0], "x"], TOKENS, "Layer 1 is a str"),
        (np.zeros((2, 0, 5, 5)), TOKENS, "nothing to show"),
        (weights(), TOKENS[:4], "4 tokens, but the attention has 5 queries"),
        (weights(), [*TOKENS, "a", "b"], "7 tokens, but the attention has 5 queries"),
        (weights(), "the cat sat", "tokens is a str"),
        (weights(keys=7), TOKENS, "5 queries and 7 keys"),
        (NOT_A_NUMBER, TOKENS, "layer 1, head 2, query 3, key 0 is NaN"),
        (weights() * 9, TOKENS, "above 1"),
        (weights() - 0.5, TOKENS, "below 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_gets_a_sentence(attention: Any, tokens: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        show(attention, tokens)


def test_a_wrong_number_of_keys_gets_a_sentence() -> None:
    with pytest.raises(DataError, match="2 keys, but the attention has 5 keys"):
        show(weights(), TOKENS, ["a", "b"])


def test_a_saved_view_opens_again(tmp_path: Path) -> None:
    for name, view in (("plain", show(weights(), TOKENS)), ("cross", show(weights() * 0.5, TOKENS, list("abcde")))):
        file, page = tmp_path / f"{name}.npz", tmp_path / f"{name}.html"
        view.save(file)
        again = open_file(file)
        np.testing.assert_array_equal(shown(again), shown(view))
        assert keys_of(again) == keys_of(view)
        assert main(["open", str(file), "--out", str(page)]) == 0
        assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(OutputError, match="headlight trace"):
        traced(toys.decoder()).show().save(tmp_path / "trace.npz")


@pytest.mark.parametrize("made", [toys.decoder, toys.both])
def test_a_file_of_headlight_trace_opens_with_what_made_it(made: Callable[[], Any], tmp_path: Path) -> None:
    model = made()
    save(tmp_path / "model", model, toys.masked() if model.config.has_cross_attention else toys.causal())
    file, edit = tmp_path / "trace.npz", "decoder.1.self.weights[3]=set:0"
    more = ["--target", "the cat"] if model.config.has_cross_attention else []
    arguments = ["--model", str(tmp_path / "model"), "--out", str(file), "--edit", edit]
    assert main(["trace", "the cat sat", *more, *arguments]) == 0
    view = open_file(file)
    with np.load(file) as arrays:
        for group, name in enumerate(each for each in arrays if each.endswith("attention")):
            names = {"decoder_attention": 0, "cross_attention": 1, "encoder_attention": 2}
            columns = arrays[name].shape[-1]
            np.testing.assert_array_equal(shown(view, names.get(name, group))[..., :columns], arrays[name])
    assert view.meta["attention_groups"][0]["ablations"] == {edit: [(1, 3)]}
    assert any(part.startswith("mask: ") for part in view.meta["provenance_parts"])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"text"])
def test_a_file_that_holds_none_gets_a_sentence(content: bytes, tmp_path: Path, shell: Shell) -> None:
    file = tmp_path / "x.npz"
    file.write_bytes(content)
    assert "x.npz cannot be read" in shell.refused(["open", str(file), "--out", str(tmp_path / "x.html")])
    np.savez(file, other=np.zeros(3))
    assert "has no attention" in shell.refused(["open", str(file), "--out", str(tmp_path / "x.html")])
    assert "No such file" in shell.refused(["open", str(tmp_path / "missing.npz")])


def test_without_out_a_browser_opens_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell) -> None:
    opened: list[str] = []

    def open_page(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", open_page)
    file = tmp_path / "heads.npz"
    show(weights(), TOKENS).save(file)
    page = Path(shell(["open", str(file)]).strip())
    assert page.as_uri() == opened[0] and page.read_text(encoding="utf-8").startswith("<!doctype html>")
