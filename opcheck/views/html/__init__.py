"""The parts of the web page: what it says, what it embeds, how it is put together."""
