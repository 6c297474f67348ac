"""The production deployment: what can be known of it without a container engine."""

import dataclasses
import fnmatch
import importlib.util
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from instar.config import PREFIX, Settings, variable
from instar.orchestrate.resources import API_CONNECTION, SPARK_CONNECTION

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docker-compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = sorted(name for name, service in SERVICES.items() if "build" in service)
DOCKERFILE = (ROOT / "Dockerfile").read_text()

VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?P<rule>:[-?])?(?P<rest>[^}]*)\}")
REQUIRED = re.compile(r"\$\{\w+:\?[^}]+\}")
SECRET_NAME = re.compile(r"PASSWORD|SECRET|TOKEN|(^|_)KEY(_|$)", re.IGNORECASE)
SECRET_INSIDE = re.compile(r"""://[^/@\s:]*:(?P<url>[^@]*)@|"password":\s*"(?P<json>[^"]*)\"""")


def environment(service: str) -> dict[str, str]:
    return {name: str(value) for name, value in SERVICES[service].get("environment", {}).items()}


def one_shot(service: str) -> bool:
    return bool(SERVICES[service].get("restart") == "no")


def example() -> dict[str, str]:
    """Return the variables of .env.example; the optional ones are commented out."""
    found = re.findall(r"^(?:# )?([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE)
    return dict(found)


def test_the_file_is_valid_compose() -> None:
    schema = resources.files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json")
    jsonschema.validate(COMPOSE, json.loads(schema.read_text()))


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_has_a_health_check_or_ends_by_itself(service: str) -> None:
    assert one_shot(service) or SERVICES[service]["healthcheck"]["test"][0] == "CMD"


@pytest.mark.parametrize("service", SERVICES)
def test_services_wait_until_what_they_need_is_healthy_or_done(service: str) -> None:
    for needed, how in SERVICES[service].get("depends_on", {}).items():
        expected = "service_completed_successfully" if one_shot(needed) else "service_healthy"
        assert how["condition"] == expected, needed


@pytest.mark.parametrize("service", SERVICES)
def test_published_ports_are_open_to_this_machine_alone(service: str) -> None:
    for port in SERVICES[service].get("ports", []):
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port)


def test_no_two_services_publish_the_same_port() -> None:
    ports = [port.split(":")[1] for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(ports) == len(set(ports)) > 0


@pytest.mark.parametrize("service", SERVICES)
def test_every_secret_is_a_variable_that_must_be_set(service: str) -> None:
    for name, value in environment(service).items():
        if SECRET_NAME.search(name) and not name.endswith("_FILE"):
            assert REQUIRED.fullmatch(value), name
        for inside in SECRET_INSIDE.finditer(value):
            assert REQUIRED.fullmatch(inside["url"] or inside["json"] or ""), name


@pytest.mark.parametrize("service", SERVICES)
def test_no_secret_is_an_argument_of_a_process(service: str) -> None:
    arguments = json.dumps([SERVICES[service].get("command", []), SERVICES[service].get("healthcheck", {})])
    assert not VARIABLE.search(arguments)


def test_the_example_lists_every_variable_and_gives_no_secret() -> None:
    used = {found["name"]: found["rule"] for found in VARIABLE.finditer(TEXT)}
    assert example().keys() == used.keys()
    for name, rule in used.items():
        assert (example()[name] == "") == (rule == ":?"), name


def test_optional_variables_have_the_defaults_that_the_example_shows() -> None:
    defaults = {v["name"]: v["rest"] for v in VARIABLE.finditer(TEXT) if v["rule"] == ":-"}
    assert defaults
    assert defaults == {name: value for name, value in example().items() if value}


@pytest.mark.parametrize(
    "image",
    [*(service["image"] for service in SERVICES.values()), *re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)],
)
def test_images_are_pinned_by_tag(image: str) -> None:
    assert re.fullmatch(r"[\w./-]+:\d[\w.-]*", image)


def test_what_the_image_copies_exists_and_is_let_in() -> None:
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignore
    copied = [name for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()]
    assert {"libs", "dags", "spark_jobs", "plugins", "pyproject.toml", "README.md", "requirements.txt"} == set(copied)
    for name in copied:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in ignore, name


def test_the_image_lets_in_nothing_that_may_hold_secrets() -> None:
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for name in (".env", ".git", ".work", "airflow.cfg"):
        assert not any(fnmatch.fnmatch(name, pattern) for pattern in let_in), name


def test_the_image_runs_without_root() -> None:
    assert re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE) == ["instar"]


@pytest.mark.parametrize("service", OURS)
def test_settings_of_instar_are_known_to_it(service: str) -> None:
    Settings.load(environment(service))


@pytest.mark.parametrize("file", ["docker-compose.yaml", "Dockerfile", ".env.example", "docs/howto/deploy.md"])
def test_every_setting_that_a_file_names_anywhere_is_known(file: str) -> None:
    """Also in comments, commands and files that are only examples."""
    named = set(re.findall(rf"\b{PREFIX}[A-Z0-9_]+", (ROOT / file).read_text()))
    assert named <= {variable(field.name) for field in dataclasses.fields(Settings)}


def test_the_settings_that_are_named_are_found() -> None:
    """The test above can only fail if this one passes."""
    assert f"{PREFIX}SPARK_MASTER" in TEXT


def test_modules_that_are_run_can_be() -> None:
    run = re.findall(r"python -m ([\w.]+)", TEXT)
    assert set(run) == {"instar.orchestrate.provision", "instar.engine.class_archive"}
    for name in run:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        assert '__name__ == "__main__"' in Path(spec.origin).read_text(), name


def test_all_workers_are_expected_to_give_an_executor() -> None:
    settings = Settings.load(environment("airflow-scheduler"))
    assert settings.spark_executors == SERVICES["spark-worker"]["deploy"]["replicas"] == 2
    assert settings.spark_master in SERVICES["spark-worker"]["command"]


@pytest.mark.parametrize("service", [name for name in OURS if name.startswith("airflow-")])
def test_options_of_airflow_are_known_to_it(service: str) -> None:
    package = importlib.util.find_spec("airflow")
    assert package is not None
    assert package.origin is not None
    options = yaml.safe_load((Path(package.origin).parent / "config_templates" / "config.yml").read_text())
    given = [name.split("__")[1:] for name in environment(service) if name.startswith("AIRFLOW__")]
    assert given
    for section, option in given:
        assert option.lower() in options[section.lower()]["options"], option


def test_airflow_has_the_connections_that_instar_asks_for() -> None:
    given = environment("airflow-scheduler")
    spark, api = (json.loads(given[f"AIRFLOW_CONN_{c.upper()}"]) for c in (SPARK_CONNECTION, API_CONNECTION))
    assert spark["host"] == given["INSTAR_SPARK_MASTER"]
    assert given["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"].startswith(api["host"])


@pytest.mark.parametrize("service", ["airflow-scheduler", "spark-worker", "s3"])
def test_store_credentials_reach_whoever_reads_the_lake(service: str) -> None:
    assert environment(service).keys() >= {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


def test_named_volumes_are_those_that_services_mount() -> None:
    mounted = {mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])}
    assert mounted == COMPOSE["volumes"].keys()
