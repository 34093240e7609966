"""Many models at once: a manifest, engines that work it off, a store, and what is asked of it."""
