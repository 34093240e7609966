"""What the project is kept with; nothing of it is part of what users install."""
