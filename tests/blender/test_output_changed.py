"""Output changed in the middle of a run: frames made for the other one are not shown through what would pose them."""

import bpy
import pytest

from helpers import rigs
from helpers.rigs import EXACT, add_dressed, check_frame, off, pinned, rest_of, simulated
from helpers.scenes import count_steps, go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

CHANGED = "Output of 'Cape' changed"
SENTENCE = f"{CHANGED}: go to the first frame, or press Reset"


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def lost(session):
    """First frame that does not hold, and why, as the panel says it."""
    loss = session.invalidated_frames(bpy.context.scene)
    return None if loss is None else (loss.first, loss.why)


def test_to_the_shape_key_nothing_is_deformed_twice(extension, session):
    _, cape, twin = add_dressed()
    play([cape], 1, 9)
    cape.pbd.output = "SHAPE_KEY"
    assert lost(session) == (1, CHANGED)
    for frame, subframe in ((10, 0.0), (5, 0.0), (5, 0.5)):
        go(frame, subframe)
        assert off(shown(cape), shown(twin)) < EXACT, "the garment as it is modeled, posed once"
        assert session.get(bpy.context.scene).message == SENTENCE and lost(session) == (1, CHANGED)
    timeline = extension.module("panels.timeline")
    assert timeline.spans(bpy.context.scene) == [(1, 9, timeline.OUTDATED)]
    play([cape], 1, 4)
    assert session.get(bpy.context.scene).message == "" and lost(session) is None
    assert off(simulated(session, cape, 4)[pinned()], rest_of(cape)[pinned()]) < EXACT
    assert off(shown(cape)[pinned()], shown(twin)[pinned()]) < EXACT


def test_to_the_modifier_nothing_stays_where_it_was_modeled(session):
    _, cape, twin = add_dressed()
    cape.pbd.output = "SHAPE_KEY"
    play([cape], 1, 9)
    cape.pbd.output = "AUTO"
    assert lost(session) == (1, CHANGED)
    for frame in (10, 5):
        go(frame)
        assert off(shown(cape), shown(twin)) < EXACT
        assert session.get(bpy.context.scene).message == SENTENCE
    go(1)
    for frame in range(2, 5):
        go(frame)
        check_frame(session, cape, twin, frame)
    assert lost(session) is None


def test_changed_back_the_frames_hold_again(session):
    _, cape, _ = add_dressed()
    seen = play([cape], 1, 9)
    steps = count_steps(session.get(bpy.context.scene))
    cape.pbd.output = "SHAPE_KEY"
    go(7)
    cape.pbd.output = "MODIFIER"
    assert lost(session) is None
    for frame in (3, 9):
        go(frame)
        assert off(shown(cape), seen[frame][0]) < EXACT
    assert steps == [] and session.get(bpy.context.scene).message == ""


def test_frames_of_a_pose_that_came_in_the_middle(session):
    """Frames 5 and 6 are made in the pose, those before without."""
    rig, cape, twin = add_dressed()
    cape.modifiers.remove(cape.modifiers["Armature"])
    play([cape], 1, 4)
    rigs.arm(cape, rig)
    play([cape], 5, 6)
    cape.pbd.output = "SHAPE_KEY"
    go(7)
    assert off(shown(cape), shown(twin)) < EXACT and lost(session) == (1, CHANGED)


def test_a_deformer_behind_the_shape_key_takes_no_frames(session):
    rig, cape, _ = add_dressed()
    cape.modifiers.remove(cape.modifiers["Armature"])
    cape.pbd.output = "SHAPE_KEY"
    play([cape], 1, 4)
    rigs.arm(cape, rig)
    steps = count_steps(session.get(bpy.context.scene))
    play([cape], 3, 6)
    assert steps == [5, 6] and lost(session) is None


@pytest.mark.parametrize("first", [1, 3])
def test_it_begins_anew_also_where_the_range_begins_later(session, first):
    _, cape, _ = add_dressed()
    play([cape], 1, 6)
    cape.pbd.output = "SHAPE_KEY"
    bpy.context.scene.frame_start = first
    play([cape], first, first + 1)
    assert session.get(bpy.context.scene).message == ""
    assert session.get(bpy.context.scene).first_frame == first
    assert off(simulated(session, cape, first), rest_of(cape)) < EXACT


def test_a_bake_begins_anew(extension, session):
    _, cape, twin = add_dressed()
    play([cape], 1, 6)
    cape.pbd.output = "SHAPE_KEY"
    list(extension.bridge("baking.bake").start(bpy.context.scene, [cape], "ABSOLUTE", 1, 6))
    for frame in (1, 6):
        go(frame)
        assert off(shown(cape)[pinned()], shown(twin)[pinned()]) < EXACT, frame
