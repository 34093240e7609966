"""How many of the checks in vendors' kernels the database knows of."""
