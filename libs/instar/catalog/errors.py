"""What a state says to an action that it does not allow."""

from instar.errors import InstarError


class InvalidAction(InstarError):
    """An action that the state it meets does not allow."""
