"""Rules for functions of single numbers: activations, angles, exponentials, rounding, bits."""
