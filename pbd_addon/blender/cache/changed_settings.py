"""What of raw settings by key has changed: what it is called, and whether it is animated."""

from bpy.app.translations import pgettext_iface as iface

from ..input.moments import collider_settings, read_last_moment
from ..scene import animation
from ..scene.scene_objects import find
from ..settings.raw_settings import OF_COLLIDER, OF_OBJECT, OF_SCENE, as_collider


def present_settings(running, scene):
    """Raw settings as they are now, before any frame was made with them."""
    settings = read_last_moment(scene, [obj for _, obj in running.world.objects(scene)]).settings
    settings.update((as_collider(obj.session_uid), collider_settings(obj)) for obj in running.obstacles(scene))
    return settings


def changed_by_hand(running, scene, settings):
    """What of raw settings is not what it was and is not animated, as the end of a sentence, or ""."""
    for key, raw in settings.items():
        for place in places(running.settings.get(key, raw), raw):
            if not is_animated(scene, key, place):
                return iface("{what} changed").format(what=describe(scene, key, place))
    return ""


def places(before, now):
    """Where two tuples of raw settings differ."""
    return [] if before == now else [place for place, pair in enumerate(zip(before, now)) if pair[0] != pair[1]]


def fields(scene, key):
    """What the raw settings of a key are made from, in their order."""
    if isinstance(key, tuple):
        return OF_COLLIDER
    return OF_SCENE if key == scene.session_uid else OF_OBJECT


def owner_of(scene, key):
    """The scene or object that has the settings of a key, or None."""
    uid = key[1] if isinstance(key, tuple) else key
    return scene if uid == scene.session_uid else find(scene, uid, "")


def describe(scene, key, place):
    """A setting for a sentence: "Tension of 'Flag'"."""
    paths, name = fields(scene, key)[place]
    owner = owner_of(scene, key)
    if owner is None:
        return iface("Something that is gone")
    if not name:
        group, _, prop = paths[0].partition(".")
        name = getattr(owner, group).bl_rna.properties[prop].name
    name = iface(name).partition(" (")[0]
    return name if owner == scene else iface("{setting} of '{owner}'").format(setting=name, owner=owner.name)


def is_animated(scene, key, place):
    """Whether one of the settings of a key is animated: then each frame has its own value."""
    owner = owner_of(scene, key)
    return owner is not None and animation.animates(owner, fields(scene, key)[place][0])


def places_that_stay(scene, settings):
    """Of raw settings by key: the places of those that are not animated."""
    return {key: [at for at in range(len(raw)) if not is_animated(scene, key, at)] for key, raw in settings.items()}


def agree(settings, others, still):
    """Whether raw settings are the same in these places, where both are known."""
    return all(settings[key][at] == others[key][at] for key in settings.keys() & still.keys() for at in still[key])
