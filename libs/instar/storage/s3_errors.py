"""What an error of botocore says about the request: it did not happen, or it may have.

Soundness: DidNotHappen is answered only where the request was never sent, or the server refused it. Everything unknown
may have happened.
"""

from botocore import exceptions as boto
from botocore.exceptions import BotoCoreError, ClientError

from instar.storage.protocol import AlreadyExists, DidNotHappen, MayHaveHappened, NotFound, StoreError, Throttled


class Conflicted(DidNotHappen):
    """A put that met another one on its key, and was told to try again."""


_NEVER_SENT = (
    boto.EndpointConnectionError,
    boto.ConnectTimeoutError,
    boto.ProxyConnectionError,
    boto.NoCredentialsError,
    boto.PartialCredentialsError,
    boto.CredentialRetrievalError,
    boto.ParamValidationError,
)
_THROTTLES = frozenset(
    {"SlowDown", "Throttling", "ThrottlingException", "RequestThrottled", "RequestLimitExceeded", "TooManyRequests"}
)
_CLIENT_ERRORS = range(400, 500)
_CONFLICT, _PRECONDITION_FAILED, _TOO_MANY_REQUESTS, _NOT_IMPLEMENTED, _NOT_FOUND = 409, 412, 429, 501, 404


def write_error(error: BotoCoreError | ClientError, what: str) -> StoreError:
    """Return what the failure of a put or delete of `what` means."""
    if isinstance(error, ClientError):
        if refusal := _refusal(error, what):
            return refusal
    elif isinstance(error, _NEVER_SENT):
        return DidNotHappen(f"{what} was not changed: {error}", help="Check the endpoint and the credentials.")
    return MayHaveHappened(f"{what} may have been changed: {error}", help="Read it back before you try again.")


def _refusal(error: ClientError, what: str) -> StoreError | None:
    """Return what a server's refusal of a write means, or None where its answer is no refusal."""
    status, code = _status(error), _code(error)
    if status == _PRECONDITION_FAILED:
        return AlreadyExists(f"{what} exists already.")
    if status == _CONFLICT:
        return Conflicted(f"{what} was not changed: others write to it ({code}).", help="Try again.")
    if _is_throttle(error):
        return Throttled(f"{what} was not changed: the store is busy ({code}).", help="Try again later.")
    if status in _CLIENT_ERRORS or status == _NOT_IMPLEMENTED:
        return DidNotHappen(f"{what} was not changed: {error}", help=_help(code))
    return None


def read_error(error: BotoCoreError | ClientError, what: str) -> StoreError:
    """Return what the failure of a read of `what` means."""
    if isinstance(error, ClientError):
        code = _code(error)
        if code == "NoSuchKey" or (_status(error) == _NOT_FOUND and code != "NoSuchBucket"):
            return NotFound(f"{what} does not exist.")
        if _is_throttle(error):
            return Throttled(f"{what} was not read: the store is busy ({code}).", help="Try again later.")
        return DidNotHappen(f"{what} can't be read: {error}", help=_help(code))
    return DidNotHappen(f"{what} can't be read: {error}", help="Check the endpoint and the credentials.")


def is_past_the_end(error: ClientError) -> bool:
    """Tell whether the server says that a range starts where the object has ended."""
    return _code(error) == "InvalidRange"


def _is_throttle(error: ClientError) -> bool:
    return _status(error) == _TOO_MANY_REQUESTS or _code(error) in _THROTTLES


def _help(code: str) -> str:
    if code == "NoSuchBucket":
        return "Create the bucket first."
    if code == "NotImplemented":
        return "The store lacks this operation; probe it before you trust it with commits."
    return "Check the credentials and what they may do."


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
