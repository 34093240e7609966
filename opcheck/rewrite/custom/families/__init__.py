"""Families of operators that share a kernel: a few expressions say what differs among them."""
