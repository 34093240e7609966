"""Holding a trace against a support matrix: the dispatcher's rule, walked. Pure, no I/O."""
