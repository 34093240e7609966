"""What a device module is made of: the functions of ``torch.npu``, by the submodule they are in."""
