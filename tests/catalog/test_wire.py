import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.catalog import transaction_pb2 as pb
from instar.catalog.wire import NotProtobuf, fields, split


@given(st.binary(max_size=300), st.text(max_size=20), st.integers(0, 2**63 - 1))
def test_a_message_is_split_into_what_it_was_made_of(parts: bytes, text: str, number: int) -> None:
    message = pb.TableState(schema_json=text, parts=parts, flags_version=number)
    taken, rest = split(memoryview(message.SerializeToString()), frozenset({2}))
    assert [bytes(of) for of in taken[2]] == ([parts] if parts else [])
    assert pb.TableState.FromString(rest) == pb.TableState(schema_json=text, flags_version=number)


@given(st.binary(max_size=60))
def test_any_bytes_are_fields_or_refused(data: bytes) -> None:
    try:
        found = list(fields(memoryview(data)))
    except NotProtobuf:
        return
    assert b"".join(field.whole for field in found) == data


@pytest.mark.parametrize("data", [b"\x12\x05abc", b"\x80", b"\x80" * 11 + b"\x01", b"\x0b"])
def test_broken_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(NotProtobuf):
        list(fields(memoryview(data)))
