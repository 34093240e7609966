"""What keeps models off devices, counted over many of them, against what there is a fix for."""
