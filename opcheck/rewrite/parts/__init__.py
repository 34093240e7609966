"""Complex tensors carried as two real ones: the real part and the imaginary part."""
