"""What a project's answer can be written as."""
