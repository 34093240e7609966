"""The command line: parse, ask the pipeline, write, exit."""
