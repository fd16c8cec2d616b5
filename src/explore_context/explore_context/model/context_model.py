"""The learned model at run time: belief of a set of transitions, constant-time belief update, prediction.
numpy and ONNX Runtime only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import ArrayLike

from explore_context.model.belief import Belief, Floats
from explore_context.model.manifest import Manifest, ModelError, graph_path, load_manifest
from explore_context.model.sessions import SessionSettings, open_session
from explore_context.plants import PlantSpec


class ContextModel:
    """An exported model. X, U, B, F: dimensions of state, action, belief and embedding; n: any number of
    rows.
    """

    def __init__(self, folder: Path, manifest: Manifest, settings: SessionSettings) -> None:
        self.folder, self.manifest, self.settings = folder, manifest, settings
        self._sessions: dict[str, ort.InferenceSession] = {}
        for name in ("encoder", "belief", "step", "rollout"):
            self.session(name)
        self._check_graphs()
        self.provider = self.session("belief").get_providers()[0]
        self.prior = self._belief(np.zeros(self.embedding_dim, np.float32), 0)

    @classmethod
    def load(
        cls, folder: Path | str, settings: SessionSettings | None = None, plant: PlantSpec | None = None
    ) -> ContextModel:
        """Load and check a model folder; with ``plant``, also that the model was made for it."""
        folder = Path(folder)
        manifest = load_manifest(folder)
        manifest.check_files(folder)
        if plant is not None:
            check_plant(manifest, plant, folder)
        return cls(folder, manifest, settings or SessionSettings())

    def _check_graphs(self) -> None:
        """The graphs take and give what the manifest's dimensions say."""
        widths = {"state": self.state_dim, "action": self.action_dim, "following": self.state_dim}
        widths |= {"beta": self.belief_dim, "pooled": self.embedding_dim, "embedding": self.embedding_dim}
        for name, session in self._sessions.items():
            for port in (*session.get_inputs(), *session.get_outputs()):
                if port.name in widths and port.shape[-1] != widths[port.name]:
                    raise ModelError(
                        f"{graph_path(self.folder, name)}: {port.name} is {port.shape[-1]} wide, the "
                        f"manifest's dimensions say {widths[port.name]}; "
                        "restore the folder from git or export again"
                    )

    @property
    def model_hash(self) -> str:
        return self.manifest.model_hash

    @property
    def state_dim(self) -> int:
        return self.manifest.dimensions["state"]

    @property
    def action_dim(self) -> int:
        return self.manifest.dimensions["action"]

    @property
    def belief_dim(self) -> int:
        return self.manifest.dimensions["belief"]

    @property
    def embedding_dim(self) -> int:
        return self.manifest.dimensions["embedding"]

    def session(self, name: str) -> ort.InferenceSession:
        """The session of one of the model's graphs, opened on first use."""
        if name not in self.manifest.files:
            raise ModelError(
                f"{self.folder}: has no graph {name!r}; export the model again with this version"
            )
        if name not in self._sessions:
            self._sessions[name] = open_session(graph_path(self.folder, name), self.settings)
        return self._sessions[name]

    def embed(self, state: ArrayLike, action: ArrayLike, following: ArrayLike) -> Floats:
        """g_trans: x (n, X), u (n, U), x+ (n, X) -> non-negative embeddings (n, F)."""
        feeds = {
            "state": _rows("state", state, self.state_dim),
            "action": _rows("action", action, self.action_dim),
            "following": _rows("following", following, self.state_dim),
        }
        embedding: Floats = self.session("encoder").run(None, feeds)[0]
        return embedding

    def belief(self, state: ArrayLike, action: ArrayLike, following: ArrayLike) -> Belief:
        """q(beta | C) of a set of transitions; an empty set gives the prior."""
        embeddings = self.embed(state, action, following)
        if len(embeddings) == 0:
            return self.prior
        return self._belief(embeddings.max(axis=0), len(embeddings))

    def update(self, belief: Belief, state: ArrayLike, action: ArrayLike, following: ArrayLike) -> Belief:
        """Add transitions to a belief in time that does not depend on how many it has seen."""
        embeddings = self.embed(state, action, following)
        pooled = np.maximum(belief.embedding, embeddings.max(axis=0, initial=0.0))
        return self._belief(pooled, belief.transitions + len(embeddings))

    def belief_from_embedding(self, embedding: ArrayLike, transitions: int) -> Belief:
        """Rebuild a belief from its embedding, e.g. from a ``context_belief`` message."""
        pooled = _rows("embedding", np.atleast_2d(np.asarray(embedding)), self.embedding_dim)[0]
        return self._belief(pooled, transitions)

    def predict(self, state: ArrayLike, actions: ArrayLike, beta: ArrayLike) -> tuple[Floats, Floats]:
        """Mean and variance (n, H, X) of the next H states from x (n, X), actions (n, H, U) and beta (n,
        B) or (B,).
        """
        x = _rows("state", state, self.state_dim)
        u = np.asarray(actions, dtype=np.float32)
        if u.ndim != 3 or u.shape[0] != len(x) or u.shape[2] != self.action_dim:
            raise ValueError(f"actions must have shape ({len(x)}, H, {self.action_dim}), got {u.shape}")
        b = np.asarray(beta, dtype=np.float32)
        b = np.broadcast_to(b, (len(x), self.belief_dim))
        mean, variance = self.session("rollout").run(
            None, {"state": x, "actions": u, "beta": np.ascontiguousarray(b)}
        )
        return mean, variance

    def predict_one(self, state: ArrayLike, action: ArrayLike, beta: ArrayLike) -> tuple[Floats, Floats]:
        """Mean and variance (n, X) of the next state; cheaper than ``predict`` with H = 1."""
        x = _rows("state", state, self.state_dim)
        b = np.broadcast_to(np.asarray(beta, dtype=np.float32), (len(x), self.belief_dim))
        feeds = {
            "state": x,
            "action": _rows("action", action, self.action_dim),
            "beta": np.ascontiguousarray(b),
        }
        mean, variance = self.session("step").run(None, feeds)
        return mean, variance

    def _belief(self, pooled: Floats, transitions: int) -> Belief:
        mean, std = self.session("belief").run(None, {"pooled": pooled[None]})
        return Belief(mean[0], std[0], pooled, transitions)


def check_plant(manifest: Manifest, plant: PlantSpec, folder: Path) -> None:
    """The model was made for this plant: name, dimensions, bounds and period."""
    facts = {
        "plant": (manifest.plant, plant.name),
        "state names": (manifest.state_names, tuple(plant.observation_names)),
        "lower action bounds": (manifest.action_low, tuple(plant.action_low)),
        "upper action bounds": (manifest.action_high, tuple(plant.action_high)),
        "period": (manifest.period, plant.dt),
    }
    for what, (made_for, found) in facts.items():
        if made_for != found:
            raise ModelError(
                f"{folder}: the model's {what} is {made_for!r}, the plant's is {found!r}; "
                "choose the model of this plant"
            )


def _rows(what: str, array: ArrayLike, columns: int) -> Floats:
    rows = np.ascontiguousarray(array, dtype=np.float32)
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise ValueError(f"{what} must have shape (n, {columns}), got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError(f"{what} holds a non-finite number")
    return rows
