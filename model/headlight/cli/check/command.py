"""`headlight check` and `headlight exercises`: a learner's functions compared with Headlight's own."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import msgspec

from headlight.cli.check.signed_lines import read_signed
from headlight.cli.common import command, positive_int
from headlight.code_exercises.diagnoses import Finding
from headlight.code_exercises.exercises import CODE_EXERCISES, write_exercises
from headlight.code_exercises.grade import format_findings
from headlight.errors import HeadlightError

SECONDS = 120  # in total, including the start of Python and torch
GRACE_SECONDS = 30  # for ending all processes
ROOT = Path(__file__).parents[3]  # contains the package `headlight`


def _add_check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, metavar="FILE.py", help="a Python file with functions of the exercises' names"
    )
    parser.add_argument(
        "exercise",
        nargs="*",
        metavar="EXERCISE",
        help=f"only these, of {', '.join(CODE_EXERCISES)} (default: all there)",
    )
    parser.add_argument(
        "--hints", type=int, choices=(1, 2, 3), default=2, help="1 a nudge, 2 what to do (default), 3 the code"
    )
    parser.add_argument("--seconds", type=positive_int, default=SECONDS, help=f"time limit (default {SECONDS})")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")


@command(_add_check_arguments)
def check(options: argparse.Namespace) -> int:
    """Check your own attention functions: what is right, what is wrong, and which mistake it looks like.

    The file runs on this machine, in a separate process. The exit status is 0 if all is right, 1 if something is wrong,
    and 2 if nothing could be checked.
    """
    for name in options.exercise:
        CODE_EXERCISES.require(name)
    if not options.file.is_file():
        raise HeadlightError(
            f"There is no file {options.file}. `headlight exercises {options.file}` writes one with gaps."
        )
    result = run_file(options.file, options.exercise, options.seconds)
    if options.json:
        print(json.dumps(asdict(result) | {"passed": result.passed}))  # in ASCII
    else:
        print(_format(result, options.hints))
    return result.status


def _add_exercises_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE.ipynb|FILE.py", help="without it they are listed")


@command(_add_exercises_arguments)
def exercises(options: argparse.Namespace) -> int:
    """Write the exercises as a notebook or a Python file with gaps, or list them."""
    if options.file is None:
        print("\n".join(f"{name:29} {exercise.title}" for name, exercise in CODE_EXERCISES.items()))
        return 0
    write_exercises(options.file)
    then = f"headlight check {options.file}" if options.file.suffix == ".py" else f"jupyter lab {options.file}"
    print(f"Written. Fill in the gaps, then: {then}")
    return 0


@dataclass(frozen=True)
class FileResult:
    """The findings of a file's checks; `problem` says why they could not start or did not finish."""

    file: str
    findings: tuple[Finding, ...]
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether all is right."""
        return not self.problem and all(finding.passed for finding in self.findings)

    @property
    def status(self) -> int:
        """The exit status: 0 if all is right, 1 if something is wrong, 2 if nothing could be checked."""
        return 0 if self.passed else 1 if self.findings else 2


def run_file(file: Path, names: Sequence[str], seconds: int | float) -> FileResult:
    """Run the checks in another process, which is ended after the time limit, with all that it has started.

    The output of the file goes to standard error, and its temporary files are deleted. A finding counts only with its
    signature (`signed_lines`).
    """
    modules = ("headlight.cli.check.supervisor", sys.executable, "-P", "-m", "headlight.cli.check.process")
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    key, late = token_hex(32).encode(), ""
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as temporary,
        TemporaryFile() as output,
        subprocess.Popen(
            [sys.executable, "-P", "-m", *modules, str(file.resolve()), *names],
            env=os.environ | {"PYTHONPATH": paths} | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
            stdin=subprocess.PIPE,
            stdout=output,
        ) as supervisor,
    ):
        try:
            _send(supervisor, key + b"\n")
            supervisor.wait(seconds)
        except subprocess.TimeoutExpired:
            late = f"after {seconds:g} s"
        finally:
            _end(supervisor)
        output.seek(0)
        return _read_result(str(file), tuple(read_signed(output, key)), supervisor.returncode, late)


def _send(supervisor: subprocess.Popen[bytes], line: bytes) -> None:
    assert supervisor.stdin is not None
    with suppress(BrokenPipeError):
        supervisor.stdin.write(line)
        supervisor.stdin.flush()


def _end(supervisor: subprocess.Popen[bytes]) -> None:
    """Let the supervisor end the process and all that it has started."""
    assert supervisor.stdin is not None
    with suppress(BrokenPipeError):
        supervisor.stdin.close()
    try:
        supervisor.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()


def _read_result(file: str, events: Sequence[dict[str, Any]], status: int, late: str) -> FileResult:
    findings = tuple(msgspec.convert(event["finding"], Finding) for event in events if "finding" in event)
    if problems := [str(event["problem"]) for event in events if "problem" in event]:
        return FileResult(file, findings, problems[0])
    if events and "done" in events[-1]:
        return FileResult(file, findings)
    place = next((event["doing"] for event in reversed(events) if "doing" in event), "starting Python")
    ended = f"was stopped {late}" if late else f"ended Python (exit status {status})"
    advice = "Is there an infinite loop?" if late else "Is there an exit() in it?"
    return FileResult(file, findings, f"{Path(file).name} {ended} while {place}. {advice}")


def _format(result: FileResult, rung: Any) -> str:
    parts = [format_findings(result.findings, rung), result.problem]
    if result.findings:
        right = sum(finding.passed for finding in result.findings)
        parts.append(f"{right} of {len(result.findings)} checks are right.")
    return "\n\n".join(filter(None, parts))
