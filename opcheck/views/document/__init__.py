"""JSON values of the published schemas, made from the values of the model."""
