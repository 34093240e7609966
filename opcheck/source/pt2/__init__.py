"""Files of torch.export, read and checked without torch."""
