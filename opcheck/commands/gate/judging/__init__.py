"""A report held against a policy: what passes, what fails, what is hidden and by what."""
