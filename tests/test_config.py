import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.config import PREFIX, InvalidSetting, Settings, reference, variable

ROOT = Path(__file__).parents[1]
FIELDS = dataclasses.fields(Settings)
NUMBERS = [field.name for field in FIELDS if field.type is int]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_setting_is_read_from_its_variable_and_typed(field: "dataclasses.Field[Any]") -> None:
    loaded = Settings.load({PREFIX + field.name.upper(): "7"})
    value = getattr(loaded, field.name)
    assert (type(value) if field.type is not Path else Path) is field.type
    assert str(value) == "7"
    changed = {name for name, default in vars(Settings()).items() if getattr(loaded, name) != default}
    assert changed == {field.name}


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = Settings.load({})
    assert settings.home == ROOT
    assert settings.work == ROOT / ".work"
    assert settings.lake == (ROOT / ".work" / "lake").as_uri()
    assert settings.spark_master == "local[*]"
    assert settings.spark_executors == 1
    assert settings.api_port == 0


def test_the_process_environment_is_read_unless_another_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSTAR_DRIVER_MEMORY", "3g")
    assert Settings.load().driver_memory == "3g"
    assert Settings.load({}).driver_memory == "1g"


def test_variables_of_others_are_left_alone() -> None:
    assert Settings.load({"PATH": "/bin", "instar_home": "/x", "MY_INSTAR_HOME": "/x"}) == Settings()


def test_a_misspelt_variable_is_refused_with_the_nearest_setting() -> None:
    with pytest.raises(InvalidSetting, match=r"INSTAR_LAKE_URL is set.* Did you mean INSTAR_LAKE_URI\?"):
        Settings.load({"INSTAR_LAKE_URL": "s3://lake"})


def test_a_variable_near_none_is_refused_with_all_settings() -> None:
    with pytest.raises(InvalidSetting, match="is not a setting") as refusal:
        Settings.load({"INSTAR_QQQQQQQQQQQQQQQQQQ": ""})
    assert all(variable(field.name) in refusal.value.help for field in FIELDS)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("text", ["", "many", "-1", "1.5", "1e3", " 1", "٣", "1_000"])
def test_what_is_not_a_whole_number_is_refused_with_its_variable(name: str, text: str) -> None:
    with pytest.raises(InvalidSetting, match=f"{variable(name)} is .*not a number.* whole number"):
        Settings.load({variable(name): text})


@given(st.integers(0, 2**40))
def test_any_whole_number_is_taken(number: int) -> None:
    assert Settings.load({"INSTAR_API_PORT": str(number)}).api_port == number


def test_an_absolute_work_folder_stands_apart_from_home(tmp_path: Path) -> None:
    settings = Settings.load({"INSTAR_HOME": "/somewhere", "INSTAR_WORK_DIR": str(tmp_path)})
    assert settings.work == tmp_path.resolve()


def test_a_configured_lake_is_taken_as_it_is() -> None:
    assert Settings.load({"INSTAR_LAKE_URI": "s3://bucket/lake"}).lake == "s3://bucket/lake"


def test_every_setting_is_explained() -> None:
    table = reference()
    for field in FIELDS:
        assert f"| `{variable(field.name)}` |" in table
        assert field.metadata["doc"].endswith(".")
    assert str(ROOT) not in table, "The reference must read the same in every checkout."


def test_the_documentation_holds_the_reference() -> None:
    document = (ROOT / "docs" / "reference" / "configuration.md").read_text()
    assert reference() in document, "Paste what instar.config.reference() returns into docs/reference/configuration.md."
