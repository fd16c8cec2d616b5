"""Namespaces."""

from __future__ import annotations


def make_namespace_absolute(ns: str) -> str:
    return ns if ns.startswith("/") else f"/{ns}"


def prefix_namespace(base_ns: str | None, ns: str | None) -> str | None:
    """``ns`` below ``base_ns`` unless it is absolute; None if neither is given. The result is absolute."""
    if ns is None and base_ns is None:
        return None
    if ns is None:
        combined = base_ns or ""
    elif not base_ns or ns.startswith("/"):
        combined = ns
    else:
        combined = f"{base_ns.rstrip('/')}/{ns}"
    return make_namespace_absolute(combined.rstrip("/"))
