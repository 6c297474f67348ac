"""Make Airflow's database current and put there what Instar needs. Safe to run again."""

from instar.orchestrate.resources import FLAGS_POOL, FLAGS_VARIABLE


def provision() -> None:
    """Migrate the metadata database; add the pool and the Variable that are missing, leaving those that are there."""
    from airflow.models import Pool, Variable
    from airflow.utils.db import initdb
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        initdb(session=session)
    with create_session() as session:
        if session.scalar(select(Pool).where(Pool.pool == FLAGS_POOL)) is None:
            session.add(Pool(pool=FLAGS_POOL, slots=1, description="One change at a time.", include_deferred=False))
        if session.scalar(select(Variable).where(Variable.key == FLAGS_VARIABLE)) is None:
            empty = {"version": 1, "defaults": {}, "databases": {}}
            Variable.set(FLAGS_VARIABLE, empty, serialize_json=True, session=session)


if __name__ == "__main__":
    provision()
