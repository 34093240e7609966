"""The traced device: its tensors, its name, and the device module that programs import."""
