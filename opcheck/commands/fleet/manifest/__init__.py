"""Which models a run is over: files, folders and patterns that name them."""
