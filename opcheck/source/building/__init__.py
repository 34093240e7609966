"""Building models and their inputs with torch; imported only when something is loaded."""
