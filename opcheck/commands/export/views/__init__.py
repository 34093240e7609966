"""What ``opcheck export`` answers, written down."""
