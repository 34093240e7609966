"""Rules for complex numbers and Fourier transforms, in real arithmetic."""
