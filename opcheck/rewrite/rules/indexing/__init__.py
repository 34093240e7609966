"""Rules that read, write, search and arrange elements: indices, masks, scatters, padding."""
