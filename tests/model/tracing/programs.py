"""Exported programs compared with `run`, on inputs of other lengths than the one they were exported with."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight import Tokenizer, Trace, Transformer, run
from headlight.tracing.inputs import signal_tensor, token_tensor
from headlight.tracing.program import RESULTS, export_program
from headlight.tracing.recording import to_numpy as array

TOLERANCE = 1e-5  # of weights, and of logits as a share of the largest


def assert_program_agrees(model: Transformer, tokenizer: Tokenizer, inputs: Sequence[dict[str, Any]]) -> None:
    """The program's weights of every attention and its logits are those of `run`, whose arguments are `inputs`."""
    program = export_program(model).module()
    for arguments in inputs:
        trace = run(model, tokenizer, **arguments, keep=(*RESULTS, "logits"))
        with torch.no_grad():
            weights, logits = program(**tensors(model, trace))
        assert [*weights] == [path for path in trace.values if path != "logits"]
        assert weights
        for path, found in weights.items():
            np.testing.assert_allclose(array(found[0]), trace[path], atol=TOLERANCE, rtol=0, err_msg=path)
        assert (logits is None) == (trace.logits is None)
        if trace.logits is not None:
            largest = max(1.0, float(np.abs(trace.logits).max()))
            np.testing.assert_allclose(array(logits[0]), trace.logits, atol=TOLERANCE * largest, rtol=0)


def tensors(model: Transformer, trace: Trace) -> dict[str, Tensor]:
    """The inputs of a program for the text, image or sound of a trace."""
    read = trace.text if trace.source is None else trace.source
    signal = signal_tensor(read, model)
    found = {"ids": token_tensor(trace.text, model)}
    if trace.source is not None and signal is None:
        found["source"] = token_tensor(trace.source, model)
    return found if signal is None else found | {"signal": signal}
