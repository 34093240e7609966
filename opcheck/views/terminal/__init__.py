"""The parts that the text format is put together from."""
