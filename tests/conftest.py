"""What every test stands on. The import hook comes first: it must be there before `model` is imported."""

import os

import jaxtyping
import torch
from hypothesis import settings

# From here on a signature such as Float[Tensor, "head query key"] is a check on every call.
jaxtyping.install_import_hook("model", "beartype.beartype")

# No test asks the Hugging Face Hub for anything.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

# Workers of pytest-xdist share the cores, and threads that wait for each other make tiny models slow.
torch.set_num_threads(1)

# No deadline: the first forward of a process is slow and means nothing.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
