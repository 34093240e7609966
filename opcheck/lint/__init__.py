"""The user's sources read, never run: what no dispatcher sees of the code for CUDA in them."""
