"""`python -m tests.bench ngrams`: a model's measurements beside those of n-gram models of its training texts."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from headlight.checkpoints import Checkpoint
from headlight.cli.common import CommandParser
from headlight.cli.evaluate import add_evaluation_arguments, open_evaluation
from headlight.cli.terminal.progress import log_to_stderr
from headlight.data.corpus import TextSource, require_files, tokenize_source
from headlight.evaluation.language_modeling import (
    ClozeAnswer,
    ClozeResult,
    ClozeSentence,
    MaskedBatch,
    cloze_prompt,
    cloze_sentences,
    masked_batches,
    ranked_answer,
    top_k_accuracy,
)
from headlight.evaluation.report import (
    Report,
    Row,
    accuracy_columns,
    cloze_dict,
    evaluate_model,
    format_markdown,
    format_text,
    named_sources,
)
from headlight.tasks import task_of
from headlight.text.tokenizer import Tokenizer
from tests.bench.ngrams.kneser_ney import KneserNey
from tests.bench.ngrams.store import NgramStore
from tests.bench.ngrams.two_sided import TwoSidedNgram

Ngram = KneserNey | TwoSidedNgram
CACHE = Path("runs") / "ngrams"


def main(arguments: Sequence[str]) -> None:
    """Print the report of `headlight evaluate` with columns of the n-gram models."""
    about = "Measure a model beside n-gram models of its texts."
    parser = CommandParser(prog="python -m tests.bench ngrams", description=about)
    add_evaluation_arguments(parser)
    parser.add_argument(
        "--train", nargs="+", required=True, metavar="FILE[=EPOCHS]", help="the texts that the model was trained on"
    )
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="FOLDER", help=f"keeps the counts ({CACHE})")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")
    parser.add_argument("--markdown", action="store_true", help="the tables of a model card")
    options = parser.parse_args(list(arguments))
    sources = [TextSource.parse(text) for text in options.train]
    require_files([source.path for source in sources])
    checkpoint, texts, cloze_tests = open_evaluation(options)
    warn_of_overlap(sources, texts)
    store = NgramStore(options.cache, checkpoint.tokenizer, sources, log_to_stderr)
    continues = task_of(checkpoint.model.config).continues_text
    ngram: Ngram = store.kneser_ney() if continues else store.two_sided()
    report = evaluate_model(checkpoint, options.model, texts, cloze_tests, log_to_stderr)
    report = with_ngram_columns(report, ngram, checkpoint, texts)
    results = [ngram_cloze(ngram, checkpoint.tokenizer, path) for path in cloze_tests]
    if options.json:
        print(json.dumps({**report.to_dict(), ngram.title: list(map(cloze_dict, results))}, indent=2))
        return
    print(format_markdown(report) if options.markdown else format_text(report))
    print(*(ngram_cloze_sentence(ngram, result) for result in results), sep="\n")


def warn_of_overlap(sources: Sequence[TextSource], texts: Sequence[Path]) -> None:
    """Warn about texts that are measured although the n-gram models have counted them."""
    for source in sources:
        if source.path.resolve() in [text.resolve() for text in texts]:
            log_to_stderr(f"{source.name} is both counted and measured: the n-gram models have seen its tokens.")


def with_ngram_columns(report: Report, ngram: Ngram, checkpoint: Checkpoint, texts: Sequence[Path]) -> Report:
    """The report with the same measures of an n-gram model, before the counts of each row."""
    rows: dict[str, Row] = {}
    for name, source in named_sources(texts).items():
        row = report.texts[name]
        measures = {column: value for column, value in row.items() if isinstance(value, float)}
        if isinstance(ngram, KneserNey):
            columns = _kneser_ney_columns(ngram, checkpoint, source, row["bits per byte"])
        else:
            columns = _two_sided_columns(ngram, checkpoint, source)
        rows[name] = {**measures, **columns, **{column: row[column] for column in row if column not in measures}}
    return Report(report.model_name, rows, report.cloze)


def _kneser_ney_columns(ngram: KneserNey, checkpoint: Checkpoint, source: TextSource, model_bits: float) -> Row:
    text = tokenize_source(source, checkpoint.tokenizer, checkpoint.tokenizer.start_id)
    bits = ngram.text_likelihood(text).bits_per_byte
    return {"Kneser-Ney bits per byte": bits, "less by": 1 - model_bits / bits}


def _two_sided_columns(ngram: TwoSidedNgram, checkpoint: Checkpoint, source: TextSource) -> Row:
    text = tokenize_source(source, checkpoint.tokenizer, None)
    batches = masked_batches(text, checkpoint.tokenizer, checkpoint.model.config.context_length)
    return {
        **accuracy_columns(f"{ngram.title} ", top_k_accuracy(ngram, batches)),
        **accuracy_columns("unigram ", top_k_accuracy(ngram.unigram, batches)),
    }


def ngram_cloze(ngram: Ngram, tokenizer: Tokenizer, path: Path) -> ClozeResult:
    """A cloze test of an n-gram model: the context is the sentence's last tokens, or the tokens around the mask."""
    sentences = cloze_sentences(path, masked=isinstance(ngram, TwoSidedNgram))
    return ClozeResult(path.stem, tuple(_ngram_answer(ngram, tokenizer, sentence) for sentence in sentences))


def _ngram_answer(ngram: Ngram, tokenizer: Tokenizer, sentence: ClozeSentence) -> ClozeAnswer:
    ids = np.array(tokenizer.encode(cloze_prompt(tokenizer, sentence)).ids, dtype=np.int64)
    if isinstance(ngram, TwoSidedNgram):
        is_masked = ids == tokenizer.mask_id
        scores = ngram.token_scores(MaskedBatch(ids[None], np.where(is_masked, 0, -1)[None]))[0]
    else:
        scores = ngram.distribution(ids)
    return ranked_answer(tokenizer, sentence, np.argsort(-scores, kind="stable").tolist())


def ngram_cloze_sentence(ngram: Ngram, result: ClozeResult) -> str:
    """One sentence on an n-gram model's cloze test."""
    first, five = (f"{result.hits(k)} ({result.accuracy(k):.1%})" for k in (1, 5))
    return f"A {ngram.title} on the same sentences: first in {first}, among the first five in {five}."
