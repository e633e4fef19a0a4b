"""Which version this is."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """Returns the version of the installed distribution."""
    try:
        return metadata.version("heliograph")
    except metadata.PackageNotFoundError:
        return "unknown"
