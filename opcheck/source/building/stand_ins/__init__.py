"""What stands in for libraries that are not installed: their operators' schemas, and modules."""
