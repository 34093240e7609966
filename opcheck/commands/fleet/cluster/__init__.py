"""Jobs done on a Ray cluster: a driver of its own process, and a worker for each processor."""
