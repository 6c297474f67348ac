"""What each room of the repository may import, and how its files are named."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "libs" / "instar"
TYPED_BY_SPARK = {"quality", "lake"}
"""Their signatures name Spark's types; at run time they import none of it."""
HEAVY = {"pyspark", "pyarrow", "great_expectations", "pandas"}
SPARK_ROOMS = {"engine"}
AIRFLOW_ROOMS = {"orchestrate", "console"}


def sources(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.py"))
    assert found, f"There is nothing to look at below {folder}."
    return found


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(node: ast.AST) -> set[str]:
    """Return the top-level packages that one statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return {str(node.module).split(".")[0]}
    return set()


def for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def walk(node: ast.AST, *, into_functions: bool, into_type_checking: bool) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not into_functions and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if not into_type_checking and for_types_only(child):
            continue
        yield from walk(child, into_functions=into_functions, into_type_checking=into_type_checking)


def imports(path: Path, *, into_functions: bool = True, into_type_checking: bool = True) -> set[str]:
    tree = ast.parse(path.read_text())
    nodes = walk(tree, into_functions=into_functions, into_type_checking=into_type_checking)
    return {package for node in nodes for package in imported(node)}


def room(path: Path) -> str:
    """Return the package right below instar that a module is in, or the module's own name."""
    return path.relative_to(LIBRARY).parts[0].removesuffix(".py")


def test_the_scan_sees_imports_at_every_level(tmp_path: Path) -> None:
    """The other tests here can only fail if this one passes."""
    path = tmp_path / "module.py"
    path.write_text(
        "import a.b\n"
        "if TYPE_CHECKING:\n    import typed\n"
        "try:\n    from c.d import e\nexcept ImportError:\n    pass\n"
        "class K:\n    import g\n"
        "def f():\n    import h\n"
    )
    assert imports(path) == {"a", "typed", "c", "g", "h"}
    assert imports(path, into_functions=False, into_type_checking=False) == {"a", "c", "g"}


@pytest.mark.parametrize("path", sources(ROOT / "dags"), ids=named)
def test_a_dag_file_imports_nothing_heavy_when_it_is_parsed(path: Path) -> None:
    assert imports(path, into_functions=False) & HEAVY == set()


@pytest.mark.parametrize("path", sources(ROOT / "spark_jobs"), ids=named)
def test_a_spark_job_does_not_need_airflow(path: Path) -> None:
    assert "airflow" not in imports(path)


@pytest.mark.parametrize("path", sources(ROOT / "plugins"), ids=named)
def test_a_plugin_has_a_name_that_no_other_module_has(path: Path) -> None:
    """Airflow imports every file below plugins by its bare name."""
    assert path.stem.startswith("instar_")


def test_only_the_engine_imports_spark() -> None:
    found = {
        named(path)
        for path in sources(LIBRARY)
        if room(path) not in SPARK_ROOMS
        and "pyspark" in imports(path, into_type_checking=room(path) not in TYPED_BY_SPARK)
    }
    assert found == set()


def test_only_orchestration_and_console_import_airflow() -> None:
    found = {named(path) for path in sources(LIBRARY) if "airflow" in imports(path) and room(path) not in AIRFLOW_ROOMS}
    assert found == set()


def test_no_package_is_empty() -> None:
    packages = [path.parent for path in sources(LIBRARY) if path.name == "__init__.py"]
    hollow = [
        named(package)
        for package in packages
        if not [child for child in package.iterdir() if child.name not in ("__init__.py", "__pycache__")]
    ]
    assert hollow == []
