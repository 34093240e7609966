"""Files of torch.export, read and checked without torch.

A hostile one is refused, in this order, by ``../archive.py`` (the zip), ``file.py`` (its members),
``check.py`` (the graph) and ``targets.py`` (what its nodes may call; operators are allowed by
``../building/operators_allowed.py``). Nothing is unpickled here: the few tensors that older files
pickle are read by torch's own ``weights_only=True`` in ``../building/pt2/model.py``.
"""
