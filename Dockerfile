# One image for Airflow's services and for Spark's: driver and executors must run the same Python and the same library.
FROM python:3.11-slim-bookworm

# tini hands signals on and reaps what jobs leave; procps is for Spark's scripts.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps tini \
    && rm -rf /var/lib/apt/lists/* \
    && pip install --no-cache-dir uv==0.13.8

WORKDIR /opt/instar
# The export is complete: dependencies of the listed packages would bring back what it leaves out on purpose.
COPY requirements.txt ./
RUN uv pip install --system --no-cache --no-deps --compile-bytecode -r requirements.txt

COPY pyproject.toml README.md ./
COPY libs libs
RUN uv pip install --system --no-cache --no-deps .
COPY dags dags
COPY spark_jobs spark_jobs
COPY plugins plugins

# Volumes that are new take the owner of the folder that they cover.
RUN useradd --uid 10001 --create-home instar \
    && mkdir -p work /opt/airflow \
    && chown instar:instar work /opt/airflow
USER instar

ENV AIRFLOW_HOME=/opt/airflow \
    INSTAR_HOME=/opt/instar \
    INSTAR_WORK_DIR=/opt/instar/work \
    PYSPARK_PYTHON=/usr/local/bin/python \
    PYTHONUNBUFFERED=1 \
    SPARK_HOME=/usr/local/lib/python3.11/site-packages/pyspark

ENTRYPOINT ["tini", "--"]
