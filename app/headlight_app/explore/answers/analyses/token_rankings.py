"""Which tokens count: several rankings of the tokens, each tested by deleting tokens in its order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from headlight.analysis.faithfulness import rankings
from headlight.analysis.faithfulness.rankings import Faithfulness
from headlight.problem_types import problem_type_of
from headlight.views.kinds import LinesView, MatrixView, NumberTable, Verdict
from headlight.views.rows import row
from headlight.views.words import names, numbered, quoted, quoted_in_line
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Program, Views
from headlight_app.explore.answers.layer_analysis import answer_text, target_answer
from headlight_app.inference.resolved_question import ResolvedQuestion

RANDOM = "random"
CURVES = {"deletion": "Deletion: low is faithful", "insertion": "Insertion: high is faithful"}
DONE = {"deletion": "tokens deleted", "insertion": "tokens put back"}
AREAS = ("deletion", "insertion")
LEGEND = (
    "Orange supports the answer, blue opposes it; a row is shaded by its own largest score. "
    "Deletion and insertion are the areas under the curves below."
)


def token_rankings(resolved: ResolvedQuestion, state: State) -> Views:
    """A table of scores and areas, and the curves of deletion and of insertion."""
    position, token, _ = target_answer(resolved, state.query, state.target_token)
    traced = resolved.trace_of(*rankings.KEEP)
    found = rankings.compare_rankings(resolved.model, traced, position, token)
    answer, tokens = answer_text(traced, resolved.tokenizer, token), traced.text.token_texts
    unit = "probability" if problem_type_of(traced.config).is_probability else "score"
    curves = (_curves(found, name, f"{unit} of {quoted_in_line(answer)}") for name in CURVES)
    return (
        Verdict(f"Which tokens does {quoted(answer)} stand on? {faithful(found)}"),
        _scores(found, tokens),
        row(*curves),
    )


def _title(name: str) -> str:
    return "Random order" if name == RANDOM else rankings.RANKINGS[name].title


def _source(name: str) -> str:
    return f"the mean of {rankings.RANDOM_ORDERS} orders" if name == RANDOM else rankings.RANKINGS[name].source


def faithful(found: Mapping[str, Faithfulness]) -> str:
    """Sentences that name the most faithful rankings, and those that are no better than random order."""
    deletion, insertion = (_titles(names) for names in rankings.most_faithful(found))
    if deletion != insertion:
        best = f"Most faithful in deletion: {deletion or 'random order'}; in insertion: {insertion or 'random order'}."
    else:
        best = f"Most faithful here: {deletion}." if deletion else "No ranking beats random order here."
    random = found[RANDOM]
    useless = [
        name
        for name, each in found.items()
        if name != RANDOM
        and (each.deletion_area >= random.deletion_area or each.insertion_area <= random.insertion_area)
    ]
    if not useless:
        return best
    return f"{best} In deletion, in insertion or in both no better than random order: {_titles(useless)}."


def _titles(names: Iterable[str]) -> str:
    return ", ".join(map(_title, names))


def _scores(found: Mapping[str, Faithfulness], tokens: Sequence[str]) -> MatrixView:
    """The scores of the tokens that can be deleted, each row shaded by itself, after the areas under its curves."""
    shown = np.sort(found[RANDOM].order)
    scores = np.stack([each.scores for each in found.values()])
    areas = {name: np.array([getattr(each, f"{name}_area") for each in found.values()]) for name in AREAS}
    titles = tuple(map(_title, found))
    return MatrixView(
        "Scores of the tokens",
        scores[:, shown],
        rows=titles,
        columns=names([tokens[token] for token in shown]),
        row_notes=tuple(map(_source, found)),
        row_numbers=areas,
        scaled_by="row",
        digits=None,
        note=LEGEND,
        tables={
            "Scores of the tokens": NumberTable({"ranking": titles, "token": numbered(tokens)}, scores),
            "Areas under the curves": NumberTable(
                {"ranking": titles, "number": tuple(f"{name} area" for name in AREAS)},
                np.stack(list(areas.values()), axis=1),
            ),
        },
    )


def _curves(found: Mapping[str, Faithfulness], name: str, unit: str) -> LinesView:
    return LinesView(
        CURVES[name],
        found[RANDOM].steps,
        {_title(each): getattr(tested, name) for each, tested in found.items()},
        DONE[name],
        unit,
        series_title="ranking",
        broken=(_title(RANDOM),),
    )


def _programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
    position, token, _ = target_answer(resolved, state.query, state.target_token)
    loop = f"for name, ranking in compare_rankings(model, trace, {position}, {token}).items():"
    shown = "    print(name, ranking.deletion_area, ranking.insertion_area)"
    lines = ("", "from headlight import compare_rankings", loop, shown)
    yield Program(lines, ("rankings", f"--position={position}", f"--answer={token}"))


ANALYSIS = Analysis(
    "Which tokens count",
    "Attention is one of several ways to rank tokens by their importance for an answer. Each ranking is tested "
    "here: tokens are deleted in its order, and restored in its order. A deleted token keeps its place, and no "
    "token attends to it; Petsiuk et al. (2018) overwrite the input. The model never saw texts with such gaps "
    "in training.",
    reads=("query", "target_token"),
    compute_long=token_rankings,
    pause=400,
    programs=_programs,
)
