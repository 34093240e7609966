"""The ways to carry a plan out: a shim, changed sources, a changed graph; and the proof."""
