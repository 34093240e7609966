"""What fleets found, in one SQLite file: ``schema`` says what is in it."""
