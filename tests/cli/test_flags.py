import json
from pathlib import Path
from typing import Any

import pytest

from instar.clock import random_id
from instar.lake import Lake
from instar.model.schema import TableSchema
from instar.orchestrate.flags import variable_name
from instar.storage.config import StoreConfig
from tests.cli.command import instar
from tests.services.airflow import Airflow


def new_lake(root: Path, *tables: str) -> Lake:
    lake = Lake(StoreConfig(root.as_uri()))
    for table in tables:
        lake.create_table(TableSchema.create(table, {"a": "int64"}, ids=random_id))
    return lake


@pytest.mark.parametrize("arguments", [["list"], ["get", "sea.t"], ["set", "sea.t", "pushdown=on", "--commit"]])
def test_without_airflow_there_are_no_flags_to_show_or_set(tmp_path: Path, arguments: list[str]) -> None:
    lake = new_lake(tmp_path / "lake", "sea.t")
    done = instar("flags", *arguments, work=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: Airflow, which keeps the flags, is not up.\n  help: Start it: make up.\n"
    assert lake.table("sea.t").view().vector[next(iter(lake.catalog.timelines()))] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pushdown"], "'pushdown' sets no flag"),
        (["pushdown=on", "pushdown=off"], "'pushdown=off' sets no flag, or one again"),
        (["pushdown=maybe"], "pushdown can't be 'maybe'"),
        (["push=on"], "There is no flag 'push'"),
    ],
)
def test_what_sets_no_flag_is_refused(tmp_path: Path, words: list[str], message: str) -> None:
    new_lake(tmp_path / "lake", "sea.t")
    done = instar("flags", "set", "sea.t", *words, "--commit", work=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr


@pytest.mark.airflow
@pytest.mark.timeout(600)
class TestWithAirflow:
    """Each test has tables of its own: they share one Airflow, and a version is never taken back."""

    def run(self, airflow: Airflow, root: Path, *arguments: str, code: int = 0) -> Any:
        home, work = airflow.settings.home, airflow.settings.work
        done = instar("flags", *arguments, "--lake", root.as_uri(), "--json", work=work, INSTAR_HOME=str(home))
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if code == 0 else done.stderr

    def test_a_change_is_a_dry_run_until_it_is_committed(self, airflow: Airflow, tmp_path: Path) -> None:
        lake = new_lake(tmp_path, "cli.dry")
        name = lake.table("cli.dry").name
        said = self.run(airflow, tmp_path, "set", "cli.dry", "write_format=dual")
        assert (said["committed"], said["after"]["write_format"]) == (False, "dual")
        assert airflow.api.variable(variable_name(name)) is None
        assert lake.table(name).flags.write_format == "codec"

        said = self.run(airflow, tmp_path, "set", "cli.dry", "write_format=dual", "--commit")
        assert said["committed"]
        assert json.loads(airflow.api.variable(variable_name(name)) or "") == {"version": 1, "write_format": "dual"}
        assert lake.table(name).flags.write_format == "dual"

    def test_list_and_get_show_what_is_wanted_and_what_is_in_force(self, airflow: Airflow, tmp_path: Path) -> None:
        lake = new_lake(tmp_path, "cli.one", "cli.two")
        self.run(airflow, tmp_path, "set", "cli.one", "pushdown=soft", "--commit")
        airflow.api.set_variable(variable_name(lake.table("cli.two").name), '{"version": 5, "pushdown": "on"}')
        one, two = self.run(airflow, tmp_path, "list")
        assert (one["table"], one["flags"]["pushdown"], one["state"]) == ("cli.one", "soft", "in force")
        assert (two["flags"]["pushdown"], two["catalog"]["pushdown"]) == ("on", "off")
        assert two["state"] == "to be brought in"
        assert self.run(airflow, tmp_path, "get", "cli.one") == one

    def test_a_change_on_a_version_that_is_gone_is_refused(self, airflow: Airflow, tmp_path: Path) -> None:
        lake = new_lake(tmp_path, "cli.late")
        self.run(airflow, tmp_path, "set", "cli.late", "pushdown=soft", "--expect", "0", "--commit")
        said = self.run(airflow, tmp_path, "set", "cli.late", "pushdown=on", "--expect", "0", "--commit", code=1)
        assert "went from version 0 to 1" in said
        assert lake.table("cli.late").flags.pushdown == "soft"

    def test_an_edit_without_a_higher_version_is_shown_and_mended_by_naming_every_flag(
        self, airflow: Airflow, tmp_path: Path
    ) -> None:
        lake = new_lake(tmp_path, "cli.edit")
        self.run(airflow, tmp_path, "set", "cli.edit", "pushdown=soft", "--commit")
        airflow.api.set_variable(variable_name(lake.table("cli.edit").name), '{"version": 1, "pushdown": "on"}')
        assert "Raise the version" in self.run(airflow, tmp_path, "get", "cli.edit")["state"]
        every = ("write_format=codec", "read_format=codec", "pushdown=on")
        self.run(airflow, tmp_path, "set", "cli.edit", *every, "--commit")
        assert lake.table("cli.edit").flags.pushdown == "on"
        assert self.run(airflow, tmp_path, "get", "cli.edit")["state"] == "in force"
