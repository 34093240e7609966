"""What is installed on this machine, and whether it goes together for a vendor's devices."""
