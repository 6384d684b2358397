"""The errors that a user can cause and mend."""


class MatPCRError(ValueError):
    """Bad input: the message names the value, the limit and the remedy, in one line."""


class MissingDependencyError(MatPCRError):
    """An optional extra is needed; the message names the command that installs it."""
