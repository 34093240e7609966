"""What each kind of database file must say."""
