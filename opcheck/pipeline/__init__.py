"""What commands share of the way from a model to a report. Nothing here imports torch."""
