"""The parts of the text about a run on an emulated device."""
