"""What is looked for in sources, one check a file."""
