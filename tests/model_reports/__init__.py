"""What users met with quantised, compiled and distributed models, and kernels of their own."""
