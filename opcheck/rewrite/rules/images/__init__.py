"""Rules for images: pools, interpolation, samples, patches, regions of interest."""
