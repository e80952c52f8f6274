"""`python -m tests.bench [SECTION ...]`: tables of times; `python -m tests.bench ngrams`: see ngrams/report.py;
`python -m tests.bench answer`, `attack`, `classroom`, `hostile`, `soak` and `tour`: see the files of those names.

Times vary from hour to hour; ratios within one run do not.

On a machine that is busy with other work, OMP_NUM_THREADS=1 keeps threads from waiting for each other.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from tests.bench import (
    answer,
    arrival,
    attack,
    billion,
    classroom,
    cold_start,
    forward,
    growth,
    hostile,
    live,
    load,
    long,
    memory,
    needles,
    page,
    peers,
    soak,
    tour,
    typing,
    why,
)
from tests.bench.measure import Ratio, table
from tests.bench.ngrams import report
from tests.browser.chromium import MissingBrowser


def _tabled(ratios: Callable[[], Iterable[Ratio]]) -> Callable[[], Iterable[str]]:
    return lambda: table(ratios())


def _cluster() -> Iterable[str]:
    try:
        from tests.bench import cluster  # which needs an extra
    except ImportError:
        return ["Ray is not installed: pip install -e '.[ray]'"]
    return cluster.lines()


SECTIONS: Mapping[str, Callable[[], Iterable[str]]] = {
    "forward": _tabled(forward.ratios),
    "long": long.lines,
    "page": _tabled(page.ratios),
    "typing": typing.lines,
    "live": live.lines,
    "load": _tabled(load.ratios),
    "cold_start": cold_start.lines,
    "memory": memory.lines,
    "billion": billion.lines,
    "growth": growth.lines,
    "arrival": arrival.lines,
    "classroom": classroom.lines,
    "cluster": _cluster,
    "peers": peers.lines,
    "why": _tabled(why.ratios),
    "needles": needles.lines,
}
WITH_OPTIONS: Mapping[str, Callable[[Sequence[str]], None]] = {
    "answer": answer.main,
    "attack": attack.main,
    "classroom": classroom.main,
    "ngrams": report.main,
    "hostile": hostile.main,
    "soak": soak.main,
    "tour": tour.main,
}


def main() -> None:
    """Measure the named sections, or all, and print each; or run the section that has its own options."""
    if sys.argv[1:] and sys.argv[1] in WITH_OPTIONS:
        WITH_OPTIONS[sys.argv[1]](sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Tables of times, each within one run.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; without any, all")
    named = parser.parse_args().sections
    if unknown := [name for name in named if name not in SECTIONS]:
        parser.error(f"there is no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}; medians and 95th percentiles, both in turn")
    for name in named or SECTIONS:
        print(f"\n{name}\n", flush=True)
        try:
            for line in SECTIONS[name]():
                print(line, flush=True)
        except MissingBrowser as sentence:  # the other sections need none
            print(sentence, file=sys.stderr)


if __name__ == "__main__":
    main()
