"""Export a model for a runtime, and prove that it runs there.

The real converter writes the file. With --prove the runtime loads it, runs it on the inputs and
compares what it gives with PyTorch; a scan for the same target says what it predicted. The answer
says how far the model came: captured by torch.export, converted, accepted by the runtime, and with
PyTorch's values. Exits with 10 where it did not come through.
"""

PURPOSE = "check"
