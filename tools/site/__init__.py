"""The operator site: the database as static pages, one for each operator and each target.

``python -m tools.site FOLDER`` writes it (``make site``), in both languages, from the same answers
that ``opcheck explain``, ``opcheck targets``, ``opcheck rules`` and ``opcheck models`` give.
"""
