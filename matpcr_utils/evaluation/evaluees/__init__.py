"""The evaluees behind ``matpcr/…``: one module each, with `create` to make it."""
