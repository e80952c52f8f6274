"""The logit lens: the prediction after each layer, and the norms of the residual stream that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from headlight.analysis.lenses.logit_lens import residual_norms
from headlight.analysis.lenses.tuned_lens import LensLosses, loss_unit
from headlight.config import Config
from headlight.nn.output_heads import pooling_title
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.problem_types import problem_type_of
from headlight.tasks import task_of
from headlight.views.kinds import ChoiceView, LinesView, MatrixView, NumberTable, Pick, TableView, four_digits
from headlight.views.rows import Row, row
from headlight.views.words import in_line, names, numbered, quoted, quoted_in_line, three_digits
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Program, Views
from headlight_app.explore.answers.layer_analysis import depth_labels, extended_trace, position_of, target_answer
from headlight_app.explore.answers.lens.cells import LensCells, lens_cells
from headlight_app.explore.answers.lens.surprisal import surprisal
from headlight_app.export.answers.programs import model_arguments
from headlight_app.inference.resolved_question import ResolvedQuestion

WINDOW = 32  # tokens in one table
SMALLEST = 1e-6  # smaller norms are clipped before the logarithm
LENSES = {"": "Logit lens", "tuned": "Tuned lens"}
TUNED_LENS_EXPLANATION = (
    "Tuned: an affine map per layer, fitted so that the readout comes as close as possible to the model's own answer. "
)


def logit_lens(resolved: ResolvedQuestion, state: State) -> Views:
    """The answers after each layer at a window of the tokens, the norms, and what the lenses lose."""
    length, asked = len(resolved.trace.text.ids), position_of(state.query, resolved.trace)
    first = asked - asked % WINDOW
    window = slice(first, min(first + WINDOW, length))
    tuned = resolved.tuned_lens
    is_tuned = state.lens == "tuned" and tuned is not None
    cells = lens_cells(resolved, window, tuned if is_tuned else None)
    losses = tuned.losses if tuned else None
    beside = surprisal(resolved) if length <= WINDOW else ()
    return (
        *((row(_lenses()),) if losses else ()),
        *((_windows(window, length),) if length > WINDOW else ()),
        row(
            _table(cells, "tuned" if is_tuned else "", asked),
            text=(TUNED_LENS_EXPLANATION if is_tuned else "") + lens_explanation(resolved.config),
        ),
        row(*beside, _norms(resolved, asked, window)),
        *((_losses(losses, loss_unit(resolved.config)),) if losses else ()),
    )


def _late_surprisal(resolved: ResolvedQuestion, state: State) -> Views:
    """The surprisal of a text longer than the table."""
    return () if len(resolved.trace.text.ids) <= WINDOW else surprisal(resolved)


def _lenses() -> ChoiceView:
    return ChoiceView("Lens", tuple(LENSES.values()), tuple({"lens": name} for name in LENSES))


def _windows(window: slice, length: int) -> Row:
    """The buttons to the tokens before and after."""
    titles, tokens = ("‹ Earlier tokens", "Later tokens ›"), (window.start - 1, window.stop)
    picks: tuple[Pick, ...] = tuple({"query": token} if 0 <= token < length else {} for token in tokens)
    words = (
        f"Tokens {window.start} to {window.stop - 1} of {length}. The buttons choose the token before or after them."
    )
    return row(ChoiceView("", titles, picks, form="actions"), text=words)


def _table(cells: LensCells, lens: str, asked: int) -> MatrixView:
    """A row for each depth, and one for the true tokens."""
    config, title = cells.traced.config, LENSES[lens]
    is_probability = problem_type_of(config).is_probability
    unit = "probability of the likeliest" if is_probability else "score of the highest"
    best, depths, columns = cells.numbers[..., 0], _depth_names(cells), _columns(cells)
    truth, marked = _truth(cells), 0 if cells.has_whole else asked - cells.first
    place = columns[0] if cells.has_whole else quoted(columns[marked])
    unknown = np.full((len(truth), len(columns)), np.nan)
    axes = {"depth": depths, "token": tuple(_file_name(cells, column) for column in range(len(columns)))}
    tables = {f"{title}: {unit}": NumberTable(axes, best)}
    if truth:
        tables |= {f"{title}: rank of the true token": NumberTable(axes, cells.ranks)}
    return MatrixView(
        title,
        np.vstack((four_digits(best), unknown)),
        rows=tuple(f"{name[0].upper()}{name[1:]}" for name in (*depths, *truth)),
        columns=names(columns),
        column_axis="after reading",
        colours="shares" if is_probability else "signed",
        unit=f"{unit} answer",
        texts=(*_each(cells, lambda depth, column: in_line(cells.text(depth, column))), *truth.values()),
        cell_notes=_each(cells, lambda depth, column: _below(cells, depth, column)),
        details=(*_each(cells, lambda depth, column: _details(cells, depth, column)), *truth.values()),
        marked=tuple((depth, marked) for depth in range(len(depths))),
        column_picks=tuple({} if place is None else {"query": place} for place in cells.positions),
        note=f"The answer, {place}: {_details(cells, len(depths) - 1, marked)}",
        tables=tables,
    )


def _each(cells: LensCells, tell: Callable[[int, int], str]) -> tuple[tuple[str, ...], ...]:
    depths, columns = cells.ranks.shape
    return tuple(tuple(tell(depth, column) for column in range(columns)) for depth in range(depths))


def _columns(cells: LensCells) -> tuple[str, ...]:
    whole = f"whole {cells.traced.config.modalities[0]}"
    tokens = cells.traced.text.token_texts
    return tuple(whole if place is None else tokens[place] for place in cells.positions)


def _file_name(cells: LensCells, column: int) -> str:
    """The name of a column in a file: positions distinguish equal tokens."""
    place = cells.positions[column]
    return _columns(cells)[column] if place is None else f"{place} {cells.traced.text.token_texts[place]}"


def _depth_names(cells: LensCells) -> tuple[str, ...]:
    """The last depth is the model's answer, except for the tokens of a text labelled as a whole."""
    layers = len(cells.ranks) - 1
    last = f"after layer {layers - 1}" if cells.has_whole else "the answer"
    return ("embedding", *(f"after layer {layer}" for layer in range(layers - 1)), last)[: layers + 1]


def _truth(cells: LensCells) -> dict[str, tuple[str, ...]]:
    """The true tokens under the name of their row; none for labels."""
    config = cells.traced.config
    if task_of(config).predicts_labels:
        return {}
    name = "original token" if task_of(config).fills_masks else "true next token"
    return {name: tuple("?" if token < 0 else in_line(cells.token(token)) for token in cells.targets)}


def _below(cells: LensCells, depth: int, column: int) -> str:
    """The number of a label, or the rank of the true token."""
    if task_of(cells.traced.config).predicts_labels:
        return cells.number(depth, column)
    rank = int(cells.ranks[depth, column])
    return f"#{rank}" if rank else ""


def _details(cells: LensCells, depth: int, column: int) -> str:
    """The likeliest answers, and the true one."""
    count = cells.answers.shape[-1]
    listed = (
        f"{quoted(cells.text(depth, column, place))} {cells.number(depth, column, place)}" for place in range(count)
    )
    target = cells.targets[column]
    true = f" · true: {quoted(cells.token(target))}, rank {cells.ranks[depth, column]}" if target >= 0 else ""
    return ", ".join(listed) + true


def _norms(resolved: ResolvedQuestion, asked: int, window: slice) -> LinesView:
    """A line for each token of the window and for the first of the text; that of the asked token is strong."""
    traced = extended_trace(resolved)
    norms, tokens = residual_norms(traced).astype(float), traced.text.token_texts
    depths = depth_labels(resolved.config)
    named = numbered(tokens)
    drawn = [*sorted({0, *range(window.start, window.stop)} - {asked}), asked]
    return LinesView(
        "Residual norm",
        range(len(depths)),
        {named[token]: four_digits(np.maximum(norms[:, token], SMALLEST)) for token in drawn},
        "",
        f"norm of the residual stream, {quoted_in_line(tokens[asked])} strong",
        x_labels=depths,
        strong=(named[asked],),
        log_y=True,
        note=f"{quoted(tokens[asked])}: {' → '.join(map(three_digits, norms[:, asked]))}",
        tables={"Norms of the residual stream": NumberTable({"depth": depths, "token": named}, norms)},
    )


def _losses(losses: LensLosses, unit: str) -> TableView:
    """What is lost at each depth but the last, by both lenses."""
    lost = np.stack((losses.logit_lens, losses.tuned_lens), axis=1)
    depths = ("embedding", *(f"after layer {layer}" for layer in range(len(lost) - 1)))
    texts = ", ".join(name.split(".")[0] for name in losses.texts)
    return TableView(
        ("", *LENSES.values()),
        tuple((depth, *(f"{number:.3f}" for number in line)) for depth, line in zip(depths, lost, strict=True)),
        title="What each lens loses",
        note=f"Bits lost on held-out text ({texts}) if the model is read after a layer instead of at its end: the "
        f"whole model needs {three_digits(losses.bits_per_byte)}. The numbers are {unit}.",
        tables={"What the lenses lose": NumberTable({"depth": depths, f"lost, {unit}": tuple(LENSES.values())}, lost)},
    )


def lens_explanation(config: Config) -> str:
    """The map that the lens applies to each layer, and the titles of its columns."""
    task, placement = task_of(config), NORM_PLACEMENTS[config.norm_placement]
    norm = "the final norm and " if config.final_norm and not placement.output_is_normed else ""
    norm = f"the streams are merged into one; then {norm}" if config.has_several_streams else norm
    if task.predicts_tokens:
        return (
            f"What the model would predict if it stopped after each layer: {norm}the language-model head, applied "
            "early. #1: the model's first guess was right."
        )
    early = f"would give if it stopped after each layer: {norm}the label head, applied early."
    if not task.whole_text:
        return f"The label that the model {early}"
    transform = config.output_head_config.transform or "none"
    dense = f", through a dense layer ({config.output_head_config.activation})" if "dense" in transform else ""
    dense += ", through a norm" * (transform == "norm")
    whole = config.modalities[0]
    return (
        f"The label that the model {early} The head reads the {pooling_title(config).lower()}{dense}: that is "
        f"the column “whole {whole}”. A token's column shows what the head would answer if it read that token alone."
    )


def _programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
    """The likeliest answer after each layer, by the displayed lens."""
    position, _, _ = target_answer(resolved, state.query, state.target_token)
    is_tuned = state.lens == "tuned" and resolved.tuned_lens is not None
    folder = model_arguments(resolved.question).partition(", device=")[0]
    reading = (
        "from headlight.analysis.lenses.tuned_lens import read_tuned_lens",
        f"lens = read_tuned_lens({folder}, model.config)",
    )
    call = f"print(logit_lens(model, trace, {position}{', lens' if is_tuned else ''}).argmax(-1))"
    imported = "from headlight.analysis.lenses.logit_lens import logit_lens"
    yield Program(("", imported, *(reading if is_tuned else ()), call))


ANALYSIS = Analysis(
    "Logit lens",
    reads=("query", "lens"),
    compute=logit_lens,
    compute_long=_late_surprisal,
    programs=_programs,
)
