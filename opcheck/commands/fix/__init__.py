"""Apply what opcheck plan suggests, and prove it.

The changed model is run on the emulated device, with values: what was replaced must be gone,
and the results must be those of the unchanged model: of every call that is asked for, or of a
training step. Only then is anything written.
"""

PURPOSE = "port"
