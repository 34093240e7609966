"""The web page of a fleet: what it says, what it embeds, how it is put together."""
