"""What a shell offers for a word of the command line, and how it comes to ask."""
