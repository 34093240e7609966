"""PyTorch's private API - the dispatcher, kernels, autocast, autograd; checked on each release."""
