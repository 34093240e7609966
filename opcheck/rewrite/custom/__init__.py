"""Projects for operators of one's own: what a vendor's toolchain builds for one overload."""
