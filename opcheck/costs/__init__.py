"""What a traced model costs on a target: the calls that it runs, their bounds, and memory."""
