"""Descriptions used in launch files."""

from __future__ import annotations

from .parameter_descriptions import Parameter, ParameterFile, ParameterValue

__all__ = ["Parameter", "ParameterFile", "ParameterValue"]
