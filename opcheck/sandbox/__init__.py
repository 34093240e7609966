"""What a process that reads a model may do: enforced by the kernel, whatever code gets to run."""
