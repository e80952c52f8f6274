"""Several threads may decode at once from the start."""

import subprocess
import sys
from pathlib import Path

# All threads decode each answer at the same moment, last field first: msgspec learns that field last.
PROGRAM = """
import json, sys, threading
import msgspec
import headlight_app.frame.main
from headlight_app.contract.prepare import prepare_types
from headlight_app.contract.reply import answer_type
from headlight_app.server.routes import http_requests

sys.setswitchinterval(1e-6)
prepare_types()
kinds, together = [answer_type(kind) for kind in http_requests()], threading.Barrier(12)

def decode():
    for kind in kinds:
        fields = json.dumps({name: None for name in reversed(kind.__struct_encode_fields__)})
        together.wait()
        try:
            msgspec.json.decode(fields, type=kind)
        except msgspec.ValidationError:
            pass

threads = [threading.Thread(target=decode) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_that_decode_the_same_answer_at_once_do_not_end_the_process(tmp_path: Path) -> None:
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
