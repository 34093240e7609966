"""What opcheck says of export targets, beside what really happens."""
