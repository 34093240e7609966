"""What a scan of Llama-3.1-405B is checked against: import, build on meta, run forward.

It leaves as the scan's worker does, without taking the interpreter down: that costs a fifth of the
time here, and would make the scan look faster than the model it runs.
"""

import os

import torch

from benchmarks.models import llama_on_meta

model, ids = llama_on_meta()
with torch.no_grad():
    model(ids)
os._exit(0)
