"""The root of every error that Instar raises on purpose."""


class InstarError(Exception):
    """State a fact, and what to do about it.

    Each cause has a class of its own, beside the code that raises it.
    """

    def __init__(self, fact: str, *, help: str = "") -> None:
        super().__init__(fact)
        self.fact = fact
        self.help = help

    def __str__(self) -> str:
        return f"{self.fact} {self.help}".rstrip()
