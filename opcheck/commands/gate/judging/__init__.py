"""A report compared with a policy: what passes, what fails, what is hidden and by what."""
