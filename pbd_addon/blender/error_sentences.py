"""Templates of error sentences: for translation, and for the check of the doctor that can fix each error.

Errors are raised, logged and tested in English, with their values filled in. Here they are recognized by their text, so
that panels can show them in the user's language with a button to fix them. Others are shown in English.
"""

import functools
import re

from bpy.app.translations import pgettext_iface as iface

RESET = "reset"
"""A restart fixes the error."""

SENTENCES = {
    "Mesh '{mesh}' of '{name}' is shared by {count} objects: make it single user "
    "(Object > Relations > Make Single User)": "shared",
    "'{name}' is in Edit Mode: leave it first": "",
    "'{name}' has no faces: add faces to simulate it": "",
    "'{name}' has absolute shape keys: switch them to Relative to simulate it": "absolute_keys",
    "'{name}' has a scale of zero: give it a scale to simulate it": "no_scale",
    "Vertex {vertex} of '{name}' has invalid coordinates (NaN): delete or move it": "",
    "'{name}' has no vertex group '{group}' to pin it: choose another pin group": "lost_pins",
    "'{name}' has no vertex group '{group}' to attach it: choose another attach group": "lost_attached",
    "'{name}' has no vertex group '{group}' for its {map} map: choose another group": "lost_maps",
    "'{name}' has no vertex group '{group}' to collide with: choose another group": "",
    "'{name}' has no shape key '{key}' for its rest shape: choose another key": "",
    "'{name}' takes its rest shape from a shape key: choose the key": "",
    "'{name}' takes its rest shape from an object: choose the object": "",
    "'{other}', the rest shape of '{name}', is in Edit Mode: leave it first": "",
    "'{other}', the rest shape of '{name}', has other vertices or faces: duplicate the mesh and reshape the copy": "",
    "All {count} vertices of '{name}' are pinned: unpin some to simulate it": "all_held",
    "All {count} vertices of '{name}' are held: let some go to simulate it": "all_held",
    "Mesh of '{name}' has other faces than the simulation was built for: press Reset": RESET,
    "Mesh of '{name}' has other loose edges than the simulation was built for: press Reset": RESET,
    "Mesh of '{name}' has {new} {what}, the simulation was built for {old}: press Reset": RESET,
    "'{name}' was attached to '{other}', which is gone: press Reset": RESET,
    "'{other}' has no faces or edges for '{name}' to slide along: choose another object": "",
    "'{name}' is attached to itself: choose another object under Attach To": "",
    "'{name}' is attached to '{other}', which has no surface: choose a mesh under Attach To": "",
    "'{name}' is attached to '{other}', which is disabled in viewports: enable it": "",
    "'{name}' has no faces to collide with: add faces, or remove the collider": "",
    "'{name}' is linked: make a local copy (Object > Relations > Make Local)": "",
    "'{name}' is disabled in viewports, so its modifiers are unknown: enable it": "",
    "'{name}' is baked: delete the bake first": "",
    "There is no text: type some letters": "",
    "There is no text or curve to take the shape of: select one, or type some letters": "",
    "'{name}' has an open curve: close it with Toggle Cyclic in Edit Mode": "",
    "'{name}' encloses nothing: draw a closed curve, or type some letters": "",
    "'{name}' would have more than {count} vertices: lower Cells": "",
    "Nothing of '{name}' was split: mark a row of edges that leads to a border, or a loop": "",
    "'{name}' is not simulated yet: play some frames first": "",
    "'{name}' is simulated, so that cloth meets it already": "",
    "The simulation range is empty ({first} to {last})": "",
    "Frame {frame} is not simulated: go to frame {first}, or play": "",
    "Frame {frame} is not simulated: play up to it": "",
    "Simulated up to frame {frame} of {last} in {seconds} s: go on from there": "",
    "{count} vertices take about {seconds} s to prepare": "",
    "Frame {frame} takes more than {seconds} s: it is simulated in slices": "",
    "The cache is full: frames {first} to {last} take the {limit} MB that it may have. "
    "Raise Memory Limit, or switch on Disk Cache": "",
    "The cache on disk is damaged: {why}": "",
    "The cache on disk is of another version of this extension: "
    "it stays as it is, and its frames are simulated again": "",
    "The shape keys of '{name}' are animated: bake relative keys": "",
    "'{name}' has shape keys of its own, which absolute keys would hide: bake relative keys": "",
    "Save the file first, or choose a Folder that does not begin with //": "",
    "'{path}' could not be written: {why}": "",
    "'{name}' is hidden: show it to export it": "",
    "Frames {first} and {second} are the most alike, and {apart} m apart, more than Largest Gap, {gap} m: "
    "simulate more frames, or raise it": "",
    "A loop of {length} frames does not fit the wind, which repeats itself every {multiple}: "
    "change Length, or Loop of the wind": "",
    "'{name}' is not baked: an export repeats itself as its bake does, so bake it first": "",
    "'{name}' has 8 UV maps, as many as Blender holds: remove one": "",
    "No frame was simulated since the file was opened: press Reset, and play or bake": "",
    "Select the vertices to pin first": "",
    "Select two borders to sew together, edges with one face each: {count} are selected": "",
    "The selected border forks at vertex {vertex}: select two rows of edges without branches": "",
    "One border is a loop and the other is not: select two loops or two rows of edges": "",
    "'{name}' has no faces: add faces to make a proxy of it": "",
    "'{name}' has {count} vertices, no more than the proxy would have: choose fewer": "",
    "'{name}' has loose edges, seams or ropes, which a proxy cannot have: apply them first": "",
    "Modifier '{modifier}' of '{name}' changes the number of vertices: apply it first": "",
    "Select the edges to crease first, edges between two faces": "",
    "The selected rows of edges cannot alternate: three of them meet, or their number is odd": "",
    "Edge {edge} of '{name}' has a crease of {angle}° with stiffness {factor}: set or clear it again": "",
    "Attribute '{attribute}' of '{name}' must hold a float for each edge: remove or rename it": "",
    "Select the vertices to unpin first": "",
    "Select the vertices to attach first": "",
    "No PBD cloth under the pointer": "",
    "The simulation began anew, without what was done by hand": "",
}
"""Templates of errors, and what fixes each: the name of a check of the doctor, `RESET`, or "" for nothing."""


def remedy(sentence: str) -> tuple[str, str]:
    """What fixes an error, the name of a check of the doctor, `RESET` or "", and the name of the object."""
    template, values = _recognize(sentence)
    return SENTENCES.get(template, ""), values.get("name", "")


def in_users_language(sentence: str) -> str:
    """An error in the user's language, or unchanged if it is not in `SENTENCES`."""
    sentence = printable(sentence)
    template, values = _recognize(sentence)
    return iface(template).format(**values) if template else sentence


def printable(text: str) -> str:
    """A text with question marks for bytes of a path that are no text, of which Blender makes no label or report."""
    return text.encode(errors="replace").decode()


@functools.lru_cache(maxsize=64)  # Panels ask at every redraw.
def _recognize(sentence: str) -> tuple[str, dict[str, str]]:
    """The template of a sentence and its values, or "" and none."""
    for template, pattern in _patterns().items():
        found = pattern.fullmatch(sentence)
        if found:
            return template, found.groupdict()
    return "", {}


@functools.cache
def _patterns() -> dict[str, re.Pattern]:
    """A regular expression for the sentences of each template."""
    return {
        template: re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(template)), re.DOTALL)
        for template in SENTENCES
    }
