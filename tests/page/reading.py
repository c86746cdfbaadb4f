"""The scene in a page, read as the page reads it."""

import base64
import json
import re
from pathlib import Path

import numpy as np

import kinegrad as kg


def scene_of(path):
    """The document in a page."""
    text = Path(path).read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="scene">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def unpacked(text, kind="<f4"):
    return np.frombuffer(base64.b64decode(text), kind).astype(float)


def course(scene, name):
    """(frames, 3) course of a marker, from the poses of its body and its place there."""
    (marker,) = [m for m in scene["markers"] if m["name"] == name]
    at = np.array(marker["at"])
    if marker["body"] == 0:
        return np.tile(at, (scene["count"], 1))
    poses = unpacked(scene["poses"]).reshape(scene["count"], -1, 7)[:, marker["body"] - 1]
    return np.array([pose[:3] + kg.rotations.A_orthogonal_of(pose[3:]) @ at for pose in poses])
