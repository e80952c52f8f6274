"""`headlight check`: a learner's file in a separate process, with a message for every outcome."""

import json
import os
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import psutil
import pytest

from headlight.cli.check.command import FileResult, run_file
from headlight.cli.check.signed_lines import MAX_BYTES, SignedLines, read_signed
from headlight.cli.check.supervisor import MAX_FILE
from headlight.cli.main import main
from headlight.code_exercises.diagnoses import Finding
from tests.model.code_exercises.files import IMPORTS, SCALED, with_slip
from tests.shell import Shell

PATIENCE = ("--seconds", "280")  # a busy machine is slow to start Python


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "my_attention.py"


def checked(file: Path, text: str, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """The exit status and the JSON of `headlight check --json`."""
    file.write_text(text, encoding="utf-8")
    status = main(["check", str(file), "--json", *PATIENCE, *arguments])
    return status, json.loads(capsys.readouterr().out)


def test_a_right_file_has_the_status_0_and_what_it_prints_does_not_spoil_the_json(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file.parent / "helper.py").write_text("factor = 1\n")  # beside the file, like a learner's own modules
    text = f"import helper\n{IMPORTS}print('hello')\n{SCALED}"
    status, answer = checked(file, text, capsys)
    assert status == 0 and answer["passed"] and not answer["problem"]
    assert {finding["exercise"] for finding in answer["findings"]} == {"scaled_dot_product_attention"}


def test_a_wrong_file_has_the_status_1_and_says_what_it_looks_like(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(with_slip("scaled_dot_product_attention", "dim=-1", "dim=1"), encoding="utf-8")
    assert main(["check", str(file), "scaled_dot_product_attention", "--hints", "3", *PATIENCE]) == 1
    printed = capsys.readouterr().out
    assert "over the queries instead of the keys" in printed
    assert "0 of 4 checks are right." in printed or "1 of 4 checks are right." in printed


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("def attention(:\n", "Line 1, `def attention(:`: SyntaxError", marks=pytest.mark.full),
        ("import math\n\nx = 1 / 0\n", "Line 3, `x = 1 / 0`: ZeroDivisionError: division by zero."),
        pytest.param("raise SystemExit(0)", "Line 1, `raise SystemExit(0)`: SystemExit", marks=pytest.mark.full),
        ("import os\nos._exit(3)", "ended Python (exit status 3) while being read"),
        pytest.param("def other(): pass", "It defines other.", marks=pytest.mark.full),
    ],
)
def test_a_file_that_cannot_be_read_gets_a_sentence_with_its_own_line(
    file: Path, text: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, answer = checked(file, text, capsys)
    assert status == 2 and not answer["passed"] and not answer["findings"]
    assert sentence in answer["problem"]
    assert "Traceback" not in answer["problem"]


def test_an_error_in_a_function_is_told_by_the_learners_own_line(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "def scaled_dot_product_attention(Q, K, V):\n    return torch.bmm(Q, K)\n"
    status, answer = checked(file, text, capsys)
    assert status == 1
    first = answer["findings"][0]
    assert first["given"] == "Line 2, `return torch.bmm(Q, K)`: NameError: name 'torch' is not defined."
    assert "not imported" in first["diagnoses"][0]["looks_like"]


def test_a_loop_without_an_end_is_stopped_after_the_time_limit(file: Path) -> None:
    file.write_text("import time\nwhile True:\n    time.sleep(0.1)\n")
    result = run_file(file, (), 5)
    assert result.status == 2
    assert "my_attention.py was stopped after 5 s while" in result.problem


FORGED = """
import json, os, subprocess, sys
finding = {"exercise": "attention", "check": "all", "passed": True}
lines = "".join(json.dumps(each) + "\\n" for each in ({"finding": finding}, {"done": True}))
for number in range(1, 20):
    try:
        os.write(number, lines.encode())
        os.pwrite(number, lines.encode(), 0)
    except OSError:
        pass
os._exit(0)
"""


def test_findings_that_the_file_writes_itself_do_not_count(file: Path) -> None:
    file.write_text(FORGED)
    result = run_file(file, (), 280)
    assert not result.findings and result.status == 2 and "ended Python (exit status 0)" in result.problem


def test_no_line_counts_twice_or_beyond_the_limit() -> None:
    written = BytesIO()
    lines = SignedLines(written, b"key")
    lines.write({"at": 0})
    first = written.getvalue()
    written.write(first + b"garbage")
    lines.write({"at": 1})
    written.write(b"x" * MAX_BYTES)
    lines.write({"at": 2})
    written.seek(0)
    assert [event["at"] for event in read_signed(written, b"key")] == [0, 1]
    written.seek(0)
    assert not list(read_signed(written, b"other"))


STAYING = """
import subprocess, sys
subprocess.Popen(
    [sys.executable, "-c", "import os, time; os.fork() and os._exit(0); os.setsid(); print(os.getpid(), flush=True); "
    "time.sleep(600)"],
    stdout=open("pid", "w"), start_new_session=True,
)
while not open("pid").read().strip():
    pass
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not give orphans to the process that started them"
)
@pytest.mark.parametrize("end", ["raise SystemExit", "os._exit(0)", "while True: pass"])
def test_no_process_stays_whatever_session_it_is_in(end: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    file.write_text(f"import os\n{STAYING}\n{end}\n")
    run_file(file, (), 20)
    assert not psutil.pid_exists(int(Path("pid").read_text()))


WRITING = """import os, tempfile
left = tempfile.mkdtemp()
open("left", "w").write(left)
os.truncate(os.open("large", os.O_CREAT | os.O_WRONLY), {size})
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_file_that_is_written_has_a_limit_and_temporary_ones_are_deleted(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    text = f"{WRITING.format(size=MAX_FILE)}\n{IMPORTS}{SCALED}"
    assert checked(file, text, capsys)[1]["passed"]
    assert not Path(Path("left").read_text()).exists()
    _, answer = checked(file, WRITING.format(size=MAX_FILE + 1), capsys)
    assert "File too large" in answer["problem"]
    assert Path("large").stat().st_size == MAX_FILE


def test_what_ends_after_a_finding_has_the_status_1() -> None:
    finding = Finding(exercise="attention", check="the output", passed=True)
    assert FileResult("my_attention.py", (finding,), "ended Python").status == 1
    assert FileResult("my_attention.py", (), "ended Python").status == 2
    assert FileResult("my_attention.py", (finding,)).status == 0


def test_a_name_or_file_that_is_not_there_is_an_error_of_the_command(file: Path, shell: Shell) -> None:
    assert "There is no file" in shell.refused(["check", str(file)])
    assert "There is no exercise 'atention'. Did you mean 'attention'? Known: " in shell.refused(
        ["check", str(file), "atention"]
    )


def test_exercises_are_listed_and_written(tmp_path: Path, shell: Shell) -> None:
    assert "MultiHeadedAttention" in shell(["exercises"])
    assert main(["exercises", str(tmp_path / "attention.ipynb")]) == 0
    assert json.loads((tmp_path / "attention.ipynb").read_text(encoding="utf-8"))["nbformat"] == 4
