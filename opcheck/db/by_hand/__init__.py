"""What is kept by hand beside the importers' files, one file each, with its sources."""
