"""Hostile files: valid ones, mutated with their structure in mind, for every reader."""
