"""Advice on how a model would cost less on a target, each of which rests on its trace."""
