import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.parts.checksums import FOOTER_KEY
from instar.parts.footer import (
    BATCH_VERSION,
    Footer,
    MalformedFooter,
    UnknownFooterVersion,
    parse_footer,
)
from instar.parts.writer import make_footer
from tests.parts.samples import provenance, updates, weather
from tests.strategies import schemas, update_tables


def sample() -> Footer:
    schema = weather()
    return make_footer(updates(schema), schema, PartFormat.DUAL, provenance(schema, replaces=("a", "b")))


@given(st.data(), schemas(), st.sampled_from(PartFormat))
def test_a_footer_comes_back_whole(data: st.DataObject, schema: TableSchema, format: PartFormat) -> None:
    footer = make_footer(data.draw(update_tables(schema)), schema, format, provenance(schema))
    assert parse_footer({FOOTER_KEY: footer.to_bytes()}, "x") == footer


def test_a_footer_says_what_a_rebuild_needs() -> None:
    footer = sample()
    assert (footer.rows, footer.first_t, footer.last_t, footer.has_deletes) == (6, 0, 5, False)
    assert (footer.codec, footer.batch_version) == ("row", BATCH_VERSION)
    assert parse_footer({FOOTER_KEY: footer.to_bytes()}, "x").provenance.replaces == ("a", "b")


def test_a_structured_part_has_no_codec() -> None:
    schema = weather()
    assert make_footer(updates(schema), schema, PartFormat.STRUCTURED, provenance(schema)).codec is None


def test_a_file_without_a_footer_is_named() -> None:
    with pytest.raises(MalformedFooter, match=r"lake/x\.parquet"):
        parse_footer({b"ARROW:schema": b""}, "lake/x.parquet")


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_an_unknown_version_is_refused_whatever_else_the_footer_says(version: object) -> None:
    with pytest.raises(UnknownFooterVersion, match=rf"x\.parquet has a footer of version {version!r}"):
        parse_footer({FOOTER_KEY: json.dumps({"version": version}).encode()}, "x.parquet")


def without(name: str) -> bytes:
    value = json.loads(sample().to_bytes())
    del value[name]
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"\xff",
        b"[]",
        b"7",
        without("version"),
        without("schema"),
        without("statistics"),
        sample().to_bytes().replace(b'"dual"', b'"duel"'),
        sample().to_bytes().replace(b'"type":"float64"', b'"type":"float65"'),
    ],
)
def test_a_footer_that_makes_no_sense_is_named(entry: bytes) -> None:
    with pytest.raises(MalformedFooter, match=r"x\.parquet"):
        parse_footer({FOOTER_KEY: entry}, "x.parquet")
