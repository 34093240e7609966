"""The toolchains that a project can be written for, one file each."""
