"""What the run time knows of a learned model: ONNX Runtime sessions and a manifest."""

from explore_context.model.belief import Belief, gaussian_entropy
from explore_context.model.context_model import ContextModel, check_plant
from explore_context.model.manifest import Manifest, ModelError, load_manifest
from explore_context.model.sessions import SessionSettings

__all__ = [
    "Belief",
    "ContextModel",
    "Manifest",
    "ModelError",
    "SessionSettings",
    "check_plant",
    "gaussian_entropy",
    "load_manifest",
]
