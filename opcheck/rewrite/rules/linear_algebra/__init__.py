"""Rules for matrices: products, norms, factorizations, solutions, eigenvalues."""
