"""Programs that users and vendors say work, and what a scan says of them."""
