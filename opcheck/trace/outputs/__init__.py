"""What a call returns without a device, and what cannot be known of it."""
