"""Which store to open, as data that travels to other processes."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from instar.errors import InstarError
from instar.storage.local import LocalStore
from instar.storage.protocol import Store


class UnsupportedStore(InstarError):
    """A URI that names no store that can be opened."""


@dataclass(frozen=True)
class StoreConfig:
    """Name a store and the way to it. Credentials come from AWS's standard chain, never from here."""

    uri: str
    profile: str | None = None
    endpoint: str | None = None
    region: str | None = None

    def __post_init__(self) -> None:
        # The text is left out of the message: it may hold a secret.
        if any("@" in urlsplit(text).netloc for text in (self.uri, self.endpoint or "")):
            raise UnsupportedStore(
                "A store's address holds credentials.", help="Put them in the environment or in an AWS profile."
            )


def open_store(config: StoreConfig) -> Store:
    """Open the store that `config` names. Nothing is read or written before it is used."""
    scheme = urlsplit(config.uri).scheme
    if scheme == "file":
        return LocalStore.from_uri(config.uri)
    if scheme == "s3":
        from instar.storage.s3 import S3Store  # boto3 is slow to import, and local lakes don't need it

        return S3Store(config)
    raise UnsupportedStore(f"{config.uri!r} names no store.", help="Use file:///folder or s3://bucket/prefix.")
