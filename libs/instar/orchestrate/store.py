"""Which store a task uses: the settings', unless an Airflow connection names another way to it."""

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from instar.config import Settings
from instar.orchestrate.resources import STORE_CONNECTION
from instar.storage.config import StoreConfig


def lake_store(settings: Settings, uri: str = "") -> StoreConfig:
    """Return the store of the lake, or of `uri`. It names a profile, an endpoint and a region, never a secret."""
    try:
        named = BaseHook.get_connection(STORE_CONNECTION).extra_dejson
    except AirflowNotFoundException:
        named = {}
    return StoreConfig(
        uri or settings.lake,
        profile=named.get("profile") or settings.s3_profile or None,
        endpoint=named.get("endpoint") or settings.s3_endpoint or None,
        region=named.get("region") or settings.s3_region or None,
    )
