"""What a process may do, enforced by the kernel, whatever code gets to run."""
