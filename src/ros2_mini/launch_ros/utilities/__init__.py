"""Helpers shared by the actions."""

from __future__ import annotations

from .evaluate_parameters import evaluate_parameter_dict, evaluate_parameters
from .namespace_utils import make_namespace_absolute, prefix_namespace
from .validation import validate_namespace, validate_node_name

__all__ = [
    "evaluate_parameter_dict",
    "evaluate_parameters",
    "make_namespace_absolute",
    "prefix_namespace",
    "validate_namespace",
    "validate_node_name",
]
