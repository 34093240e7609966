"""The check of a release: what is built is installed in fresh environments, and used there."""
