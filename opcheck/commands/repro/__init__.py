"""Write a script that makes the call of one finding alone.

It needs torch, and on the device its plugin: operator, dtypes, sizes, strides and constants are
those that were traced, values are drawn from a seed. --device cpu runs it on the host, and
--emulate on the emulated device, which raises what the vendor's runtime would.
"""

PURPOSE = "port"
