"""The extension's version and home, and what a report of a bug should say."""

import functools
import platform
import string
import tomllib
from pathlib import Path

import bpy

from .kinds import Scene
from .timeline import backends, session

NO_HOME = "There is no address yet: set 'website' in blender_manifest.toml"
"""Why a link cannot be opened."""

SAFE = string.ascii_letters + string.digits + "-_.~"
"""What a web address may hold as it is."""


@functools.cache
def manifest() -> dict:
    """What `blender_manifest.toml` says."""
    return tomllib.loads((Path(__file__).parents[2] / "blender_manifest.toml").read_text(encoding="utf-8"))


def version() -> str:
    """The version of this extension, "0.1.0"."""
    return str(manifest()["version"])


def website() -> str:
    """Where the extension is at home, without a slash at the end, or ""."""
    return str(manifest().get("website", "")).rstrip("/")


def changes_address() -> str:
    """Where the changes of each version are listed, or ""."""
    return f"{website()}/blob/HEAD/CHANGELOG.md" if website() else ""


def report_address(scene: Scene) -> str:
    """Where a bug is reported, with what is known about it filled in, or ""."""
    return f"{website()}/issues/new?body={quoted(report(scene))}" if website() else ""


def report(scene: Scene) -> str:
    """What whoever mends a bug asks first: versions, what computes, and the last frame. No names, no paths."""
    running = session.get(scene)
    live = session.live_bodies(scene)
    lines = [
        "What happened, and what did you expect?",
        "",
        "",
        f"PBD Cloth & Balloons {version()}, Blender {bpy.app.version_string}, {platform.system()} {platform.machine()}",
        f"{len(live)} live objects, {sum(len(obj.data.vertices) for obj in live)} vertices",
        f"Backend: {(running.kernels_name if running else '') or 'none yet'}",
    ]
    status = backends.status(scene)
    if status:
        lines.append(status)
    if running is not None and running.report is not None:
        said = running.report
        lines.append(
            f"Frame {running.last_frame}: {1000.0 * said.seconds:.0f} ms, {said.substeps} substeps ({said.reason}), "
            f"strain {said.strain_mean:.2%} mean, {said.strain_max:.2%} at most, "
            f"{said.contacts} + {said.self_contacts} contacts, {said.crossings} crossings, {said.inside} inside, "
            f"{said.pierced} pierced, {sum(said.retries)} substeps again"
        )
        lines.append(", ".join(f"{name} {1000.0 * seconds:.1f} ms" for name, seconds in said.times.items()))
    return "\n".join(lines)


def quoted(text: str) -> str:
    """A text as part of a web address."""
    return "".join(chr(byte) if chr(byte) in SAFE else f"%{byte:02X}" for byte in text.encode())
