"""Calls of a traced model fused into one kernel that the vendor brings, with their proof."""
