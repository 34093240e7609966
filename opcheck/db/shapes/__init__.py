"""What each kind of database file must say, one module a kind."""
