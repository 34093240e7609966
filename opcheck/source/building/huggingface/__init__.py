"""Models of transformers and diffusers, from their configs."""
