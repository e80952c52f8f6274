"""Models this small are slower with two threads: on a busy machine each waits for the other at every product."""

import torch

torch.set_num_threads(1)
