"""Whether a source is code that the user knows to be run, told from its name alone."""


def is_code(source: str, *, trust: bool) -> bool:
    """Whether ``source`` is Python of the user's own, or a file that the user trusts.

    No file is looked into: only what is no code may be read by a process without limits.
    """
    if trust or ".py" not in source:
        return trust
    from opcheck.source.select import kinds

    return any(kind.claims(source) for kind in kinds() if kind.code)
