"""The parts of a SARIF log."""
