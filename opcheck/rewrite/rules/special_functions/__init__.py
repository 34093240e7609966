"""Rules for special functions: error, gamma and Bessel functions, polynomials."""
