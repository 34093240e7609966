"""Rules that reduce: extremes, order statistics, histograms, moments, segments, scans."""
