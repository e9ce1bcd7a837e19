"""Templates of error sentences: for translation, and for the check of the doctor that can fix each error.

Errors are raised, logged and tested in English, with their values filled in. Here they are recognized by their text, so
that panels can show them in the user's language with a button to fix them. Others are shown in English. What the engine
refuses stands behind the name of what it is about.
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
    "No loop": "",
    "{frames} frames are too few to fade over {fade}: it takes {least} at least": "",
    "{frames} frames with a fade of {fade} hold a loop of {longest} at most, not of {wanted}": "",
    "an error of {error} m is finer than 32-bit numbers, which are off by {least} m": "",
    "The file has {size} MB: a pattern may have {most}": "",
    "The file has no panels: it is no sewing pattern": "",
    "The pattern has more than {most} edges": "",
    "The file is no sewing pattern: what should be its {kind} is {type}": "",
    "Panel '{panel}' has no edges": "",
    "Panel '{panel}' is open or forks: each of its edges has to begin where the one before it ends": "",
    "Panel '{panel}', edge {edge} has no length": "",
    "Panel '{panel}', edge {edge} has a curve of an unknown type: {type}": "",
    "Stitch {stitch} does not name two edges": "",
    "Stitch {stitch} names panel {panel}, which is not there": "",
    "Stitch {stitch} sews an edge of panel '{panel}' to itself": "",
    "The file is no JSON: {error}": "",
    "The file is no SVG: {error}": "",
    "The file declares entities, which are not read: save it as plain SVG": "",
    "The file has no closed paths, which would be panels": "",
    "The drawing's unit is {unit} m: its width, height and viewBox do not fit": "",
    "The drawing has more than {most} texts: delete those that are no labels": "",
    "Label '{label}' stands at {count} sides: a stitch has two. Move texts that are no labels "
    "farther than {far} cm from the lines": "",
    "'{path}' and what is before it have more than {most} pieces": "",
    "'{path}' is farther than {most} m away": "",
    "'{path}' is open by {gap} m: close the path, or delete it": "",
    "{text} is no length": "",
    "'{path}' transform {transform} is not understood": "",
    "'{path}' has no pairs of numbers as points": "",
    "'{path}' has a path with a number that is not finite": "",
    "'{path}' has more than {most} pieces": "",
    "'{path}' has a path with an unknown command {command}": "",
    "'{path}' has a path that is not understood at {text}": "",
    "'{path}' has a path in which {command} lacks numbers": "",
    "{vertices} vertices in {frames} frames take a texture of {width} x {height} pixels, and "
    "{largest} is the most: export {most} frames at most, or a coarser mesh": "",
    "The pattern would have {count} vertices: choose longer edges, for at most {most}": "",
    "Panel '{panel}' has no area": "",
    "Panel '{panel}' is too large for edges of {edge} m: choose longer edges": "",
    "Panel '{panel}' is too small for edges of {edge} m: choose shorter edges": "",
    "Panel '{panel}' is farther than {most} m away: its units may be wrong": "",
    "Panel '{panel}' crosses or touches itself": "",
    "'{name}' has no faces with an area to follow": "",
    "'{name}' cannot be attached to '{other}'": "",
    "triangles: none of them has an area to bind points to": "",
    "there are neither faces nor edges to simulate": "",
    "there are neither faces nor edges to slide along": "",
    "{what} must span at least {least} m, not {size} m: scale them up": "",
    "vertex {vertex} cannot both be pinned and slide": "",
    "a vertex would start at {speed} m/s; lower velocity and angular_velocity to {most} m/s": "",
    "no face has an area and no edge has a length": "",
    "2HB of the {way}, {hysteresis}, is more than B, {bending}, can carry: at most twice B": "",
    "a bending length needs the weight: enter W as well": "",
    "{what} makes the weft {ratio} times as stiff as the warp: check both values": "",
    "there is no face to collide with": "",
    "inside needs a closed surface, this one has {count} openings": "",
    "Wind.velocity must be at most {most} m/s, not {speed}": "",
    "{what} must be a finite number, not {value}": "",
    "{what} must be 0 or of a size from {least} to {most}, not {value}": "",
    "{what} must be above {limit}, not {value}": "",
    "{what} must be at least {limit}, not {value}": "",
    "{what} must be at most {limit}, not {value}": "",
    "{name} became unstable at vertex {vertex}: use more substeps or less stiffness; frame {frame} is kept": "",
    "'{path}' is no pattern: choose a file that ends in .json or .svg": "",
    "'{path}' could not be read: {error}": "",
    "Choose a file to import": "",
    "Choose a file to export to": "",
    "Save the file first, or choose a path that does not begin with //": "",
    "There is nothing to bake from frame {first} to {last}": "",
    "There is no PBD cloth or balloon to bake": "",
    "There is no PBD cloth or balloon to export": "",
    "'{name}' is not simulated: switch it on to bake it": "",
    "Frame {frame} could not be simulated: press Reset": "",
    "The scene was deleted during the bake": "",
    "'{name}' is not in the simulation: press Reset": "",
    "A modifier of '{name}' changes the number of vertices: apply it first": "",
    "The baked keys of '{name}' are gone: delete the bake": "",
    "'{name}' has a scale of zero at frame {frame}: give it a scale to bake it": "",
    "'{name}' stays, because no bake has written it: delete it yourself if you do not need it": "",
    "'{name}' could not be removed: {error}": "",
    "The file of the bake of '{name}' cannot be read: {error}": "",
    "'{name}' may take {size} MB, and the disk has only {left} MB left": "",
    "Switch on the add-on 'glTF 2.0 format' in the preferences first": "",
    "This Blender was built without {what}": "",
    "A second Blender does not know what a hand has shaped: use Bake, or Apply Shape as Base first": "",
    "Background bake: an object was deleted in the meantime, nothing is kept": "",
    "Background bake: the mesh of '{name}' is another one now, nothing is kept": "",
    "Background bake: its result cannot be read ({error})": "",
    "Blender could not be started in the background: {error}": "",
    "'{name}' follows a proxy already: remove its modifier '{modifier}' first": "",
    "'{name}' holds no volume to make a collider of": "",
    "Save the file first: its cache lies beside it": "",
    "That is where the cache belongs already": "",
    "{folder} holds a cache already: delete it first": "",
    "There is no PBD cache in {folder}": "",
    "'{modifier}' makes half of '{name}': apply it first, or the garment has one side": "",
    "The scale of '{name}' is animated, inherited or handed on: even it out by hand": "",
    "'{name}' has shape keys, so that no modifier can be applied: apply it before adding keys": "",
    "Modifiers before '{modifier}' come first: apply those you want to keep, or remove it": "",
    "Blender makes no override of '{name}': {why}": "",
    "'{other}' has no faces to attach '{name}' to: add faces, or choose another object": "",
    "'{other}', to which '{name}' is attached, has other faces than at the start ({now} "
    "vertices, then {then}): press Reset": "",
    "There is no PBD cloth or balloon to simulate": "",
    "A frame of '{scene}' must take {limits}, not {seconds}: change Speed or Frame Rate": "",
    "Settled {done} of {frames} frames in {seconds} s: press Settle for all of them": "",
    "the wind has no direction: set Direction, or choose another object to blow along": "",
    "There is no material {name}: choose one of {names}": "",
    "Modifier '{modifier}' of '{name}' needs the mesh itself, so 'PBD Output' cannot stand "
    "before it: apply it, or choose the output Shape Key": "",
    "Modifier '{modifier}' of '{name}' changes the number of vertices before the simulation: "
    "apply it, or move it after '{last}'": "",
    "Modifier '{modifier}' of '{name}' follows '{other}', which is simulated itself: bake "
    "'{target}' first, or move the modifier after the simulation": "",
    "Modifiers of '{name}' are switched by animation: remove that to bake their result": "",
    "The modifiers before the simulation make {made} vertices of the {count} of '{name}': "
    "apply those that do, or move them after it": "",
    "The modifiers of '{name}' give vertex {vertex} invalid coordinates: switch them off one by one": "",
    "'{name}' is attached to '{other}', which is not in the scene: choose another object under Attach To": "",
    "'{name}' is attached to '{other}', which is simulated itself: choose an object that is not, or bake it first": "",
    "'{name}' has a scale of zero: give it a scale to sew it": "",
    "A selected border has no length: move its vertices apart, or switch Slide Vertices off": "",
    "'{name}' has no attach group and no pin group: select vertices in Edit Mode": "",
    "'{name}' is shown by a modifier, which other modifiers pose: apply its shape as a new mesh": "",
    "Select the faces that the garment is to cover first": "",
}
"""Templates of errors, and what fixes each: the name of a check of the doctor, `RESET`, or "" for nothing."""

PREFIXED = "{before}: {why}"
"""How the bridge says which object or file the engine refuses."""

NESTED = {"why"}
"""Values that are errors themselves."""


def remedy(sentence: str) -> tuple[str, str]:
    """What fixes an error, the name of a check of the doctor, `RESET` or "", and the name of the object."""
    template, values = _recognize(sentence)
    return SENTENCES.get(template, ""), values.get("name", "")


def in_users_language(sentence: str) -> str:
    """An error in the user's language, or unchanged if it is not in `SENTENCES`."""
    sentence = printable(sentence)
    template, values = _recognize(sentence)
    if template:
        return iface(template).format(**values | {name: in_users_language(values[name]) for name in NESTED & {*values}})
    for colon in re.finditer(": ", sentence):
        before, why = sentence[: colon.start()], sentence[colon.end() :]
        if _recognize(why)[0]:
            return iface(PREFIXED).format(before=in_users_language(before), why=in_users_language(why))
    return sentence


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
    """A regular expression for the sentences of each template. One that begins with a value may stand behind a name."""
    found = {}
    for template in SENTENCES:
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(template))
        found[template] = re.compile(re.sub(r"^(\(\?P<\w+>)\.\+", r"\1(?:(?!: ).)+", pattern), re.DOTALL)
    return found
