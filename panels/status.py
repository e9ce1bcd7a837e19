"""What the simulation says: one line of fixed height, what keeps it from running with what helps, and the details."""

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.doctor import setup_findings, shown
from ..pbd_addon.blender.kinds import Context, Icon, Layout, Scene
from ..pbd_addon.blender.scene import linked
from ..pbd_addon.blender.timeline import causes, cost_estimate, session
from .last_frame import draw_convergence, draw_costs, in_contact, is_mainly_contact, short_advice
from .places import BodyPanel
from .rows import ICON, draw_sentence, file_size, row_width, text_width

DISTURBED = {
    "COLLIDERS": "Colliders changed at frame {frame}: Reset to start again",
    "HAND": "Changed by hand from frame {frame} on; a bake leaves that out",
    "SETTLE": "Frame {frame} is not settled to the end: press the button beside Settle",
}
"""What makes the cached frames differ from a run in one go."""


class Details(BodyPanel):
    """What the line above leaves out: contacts, memory, frames that do not hold, and why"""

    parent = "main"

    def draw(self, context: Context) -> None:
        running = session.get(context.scene)
        if running is None or context.object.pbd.baked:
            draw_sentence(self.layout, context, "Nothing is simulated yet" if running is None else "Baked", "INFO")
            return
        notes = running.notes.get(context.object.session_uid, ())
        if is_newcomer(context, running):
            notes = running.scene_sim.newcomers(context.scene).get(context.object.session_uid, ())
        else:
            draw_report(context, self.layout, running)
            draw_shown(context, self.layout)
        draw_frames(context, self.layout, running)
        if running.shaped:
            sentence = "Starts from a shape made by hand: Reset forgets it, Apply as Base keeps it"
            draw_sentence(self.layout, context, sentence, "VIEW_PAN")
        if running.scene_sim is not None and running.scene_sim.is_edited(context.object):
            said = iface("Edited: pins follow the mesh at once, the rest starts from it at frame {frame}, or on Reset")
            draw_sentence(self.layout, context, said.format(frame=running.first_frame), "INFO")
        for note in notes:
            draw_sentence(self.layout, context, note, "INFO")


def draw_shown(context: Context, layout: Layout) -> None:
    """What crosses the mesh as it is shown, counted when asked for: modifiers may do what the simulation did not."""
    col = layout.column(align=True)
    col.operator("object.pbd_count_crossings", icon="VIEWZOOM")
    counted = shown.counted(context.object)
    if counted is None:
        return
    for one in counted.crossings:
        said = iface("Frame {frame}: {count} faces cross '{name}'")
        itself = iface("Frame {frame}: {count} faces cross others of '{name}'")
        said = (itself if one.name == context.object.name else said).format(
            frame=counted.frame, count=one.faces, name=one.name
        )
        draw_sentence(col, context, said, "ERROR")
    if counted.crossings:
        col.operator("object.pbd_show_crossings", text="Show", icon="RESTRICT_SELECT_OFF").counted = True
    else:
        said = iface("Frame {frame}: nothing crosses what is shown").format(frame=counted.frame)
        draw_sentence(col, context, said, "CHECKMARK")


def line(context: Context) -> tuple[str, Icon, bool]:
    """The status of the active object: a few words, an icon, and whether it is an alarm."""
    settings, running = context.object.pbd, session.get(context.scene)
    if settings.baked:
        baked = iface("Baked, frames {first} to {last}")
        return baked.format(first=settings.bake_start, last=settings.bake_end), "LOCKED", False
    if running is not None and running.bake is not None:
        return iface("Esc cancels, frames stay"), "INFO", False
    if linked.problem(context.object) or (running is not None and running.message and not running.is_coming):
        return iface("Does not run: see below"), "ERROR", True
    if running is not None and is_newcomer(context, running):
        first = session.frame_range(context.scene)[0]
        if session.last_shown(context.scene) == first:
            return iface("Joins when you press Reset"), "INFO", False
        return iface("Joins at frame {frame}, or on Reset").format(frame=first), "INFO", False
    if running is not None and running.scene_sim is not None and running.scene_sim.is_edited(context.object):
        return iface("Edited: press Reset to start from it"), "INFO", False
    if session.is_behind(context.scene) and not is_playing(context):
        return iface("Simulated up to frame {frame}").format(frame=running.last_frame), "TIME", False
    found = causes.colliders(running, context.object) if running is not None else []
    if found:
        return fitted(context, found[0].text, found[0].name), "ERROR", False
    if running is not None and running.report is not None and running.report.no_room:
        return iface("Colliders leave cloth no room"), "ERROR", False
    if running is not None and running.report is not None and running.report.pierced:
        return iface("Cloth goes through a collider"), "ERROR", False
    if running is not None and running.scene_sim is not None:
        frame = running.scene_sim.sewn_until(context.object.session_uid, context.scene)
        if frame:
            return iface("Sewing until frame {frame}").format(frame=frame), "TIME", False
    if running is not None and simulated(context, running) and not is_playing(context):
        said = short_advice(running.report)  # While it plays, it would come and go with each swing.
        if said:
            return said, "ERROR", False
    said = summary(context, running)
    if said:
        return said, "ERROR" if has_warning(context.scene, running) else "TIME", False
    seconds = cost_estimate.seconds_of_frame(context.scene, cost_estimate.count_vertices(context.scene))
    if seconds < cost_estimate.LONG:
        return iface("Press Space to simulate"), "INFO", False
    takes = iface("Press Space: {seconds} s a frame").format(seconds=cost_estimate.rounded(seconds))
    return takes, "TIME", False


def fitted(context: Context, text: str, name: str) -> str:
    """The text, with so much of the name cut off that the rest is to be read beside the icon and the button."""
    room = row_width(context) - 2.0 * ICON if context.region is not None else float("inf")
    shown = text
    for kept in range(len(name) - 1, 2, -1):
        if text_width(context, shown) <= room:
            break
        shown = text.replace(name, name[:kept] + "…")
    return shown


def is_playing(context: Context) -> bool:
    """Whether the timeline runs in this window."""
    return context.screen is not None and context.screen.is_animation_playing


def simulated(context: Context, running: session.Record) -> set[int]:
    """The uids of the objects that a simulation goes on with; where all are deleted, the next frame begins anew."""
    return set() if running.scene_sim is None else {one.uid for one, _obj in running.scene_sim.objects(context.scene)}


def is_newcomer(context: Context, running: session.Record) -> bool:
    """Whether the active object became PBD after the simulation was built, which goes on without it."""
    going = simulated(context, running)
    return bool(going) and context.object.session_uid not in going


def summary(context: Context, running: session.Record | None) -> str:
    """Time and stretch of the last frame, and the frames that hold; what is zero is left out, "" if all is."""
    if running is None or not simulated(context, running):
        return ""
    parts, report = [], running.report
    if report is not None and report.seconds >= 1.0:
        parts.append(iface("{time} s").format(time=f"{report.seconds:.1f}"))
        if is_mainly_contact(report):
            parts.append(iface("{contact} of them contact").format(contact=f"{in_contact(report):.1f}"))
    elif report is not None and report.seconds >= 0.0005:
        parts.append(iface("{time} ms").format(time=f"{1000.0 * report.seconds:.0f}"))
    if report is not None and report.strain_p95 >= 0.0005 and len(parts) < 2:
        parts.append(iface("{strain} % stretched").format(strain=f"{100.0 * report.strain_p95:.1f}"))
    first, last = session.valid_frames(context.scene)
    if last > first:
        parts.append(iface("frames {first}–{last}").format(first=first, last=last))
        icons = ICON * (2 if has_advice(running) else 1)  # The button takes room too.
        if context.region is not None and text_width(context, ", ".join(parts)) > row_width(context) - icons:
            parts[-1] = f"{first}–{last}"
    return ", ".join(parts)


def has_advice(running: session.Record) -> bool:
    """Whether more quality steps would help."""
    report = running.report
    return report is not None and report.advice is not None and report.advice.substeps > 0


def has_warning(scene: Scene, running: session.Record) -> bool:
    """Whether the details say something that should not be overlooked."""
    unstable = running.report is not None and running.report.advice is not None
    return bool(unstable or running.disk_note or session.disturbed(scene)[0] is not None)


def draw_line(context: Context, layout: Layout) -> None:
    """One line, whatever happens, so that nothing below it moves."""
    text, icon, alarm = line(context)
    row = layout.row()
    row.alert = alarm
    row.label(text=text, icon=icon, translate=False)
    running = session.get(context.scene)
    if running is None or running.bake is not None or context.object.pbd.baked or alarm:
        return
    if session.is_behind(context.scene):
        row.operator("object.pbd_catch_up", text="", icon="FF")
    elif causes.colliders(running, context.object):
        row.operator("object.pbd_show_crossings", text="", icon="RESTRICT_SELECT_OFF").counted = False
    elif has_advice(running):
        row.operator("object.pbd_raise_quality", text="", icon="CHECKMARK")


def draw_problems(context: Context, layout: Layout) -> None:
    """In red why nothing is simulated, or why it will not look like cloth, each with the button that helps."""
    obj, running = context.object, session.get(context.scene)
    if obj.pbd.baked:
        return
    foreign = linked.problem(obj)
    if foreign:
        draw_problem(context, layout, foreign)
        layout.operator("object.pbd_make_override", icon="LIBRARY_DATA_OVERRIDE")
    elif running is not None and running.message and running.bake is None and not running.is_coming:
        draw_problem(context, layout, running.message, is_late=running.is_late)
        if running.is_late:
            draw_costs(layout, context, running.report)
    coarse = setup_findings.coarse_sentence(obj)
    if coarse and not foreign and obj.data.polygons:
        col = layout.column(align=True)
        draw_sentence(col, context, coarse, "ERROR")
        button = col.operator("object.pbd_doctor_fix", text="Subdivide", icon="MOD_SUBSURF")
        button.check, button.body = "too_coarse", obj.name


def draw_problem(context: Context, layout: Layout, sentence: str, is_late: bool = False) -> None:
    """An error, and below it what mends it, if something does."""
    col = layout.column(align=True)
    red = col.column()
    red.alert = True
    draw_sentence(red, context, error_sentences.in_users_language(sentence), "ERROR")
    check, name = error_sentences.remedy(sentence)
    if is_late:
        col.operator("object.pbd_catch_up", icon="FF")
    elif check == error_sentences.RESET:
        col.operator("object.pbd_reset", icon="LOOP_BACK")
    elif check:
        button = col.operator("object.pbd_doctor_fix", text="Fix", icon="CHECKMARK")
        button.check, button.body = check, name


def draw_report(context: Context, layout: Layout, running: session.Record) -> None:
    """What the last frame took, touched and left short."""
    report = running.report
    if report is None:
        return
    said = iface("{time} ms a frame, {steps} steps, {strain} % stretched")
    said = said.format(
        time=f"{1000.0 * report.seconds:.0f}", steps=report.substeps, strain=f"{100.0 * report.strain_p95:.1f}"
    )
    draw_sentence(layout, context, said, "TIME")
    draw_costs(layout, context, report)
    draw_convergence(layout, context, report)
    for cause in causes.colliders(running, context.object):
        draw_sentence(layout, context, cause.text, "ERROR")
    if report.no_room:
        said = iface("Colliders leave cloth no room: it goes through them until they part")
        draw_sentence(layout, context, said, "ERROR")
    if report.is_cut_short:
        said = iface("Too many repeated steps: the rest of the frame may be stretched")
        draw_sentence(layout, context, said, "ERROR")
    counted: tuple[tuple[int, Icon, str], ...] = (
        (report.pierced, "ERROR", iface("{count} edges go through closed colliders, and do not meet them until apart")),
        (report.inside, "INFO", iface("{count} vertices are inside of closed colliders, which lead them out")),
        (report.retries.overrun, "INFO", iface("{count} steps were repeated: they overstretched cloth")),
        (report.retries.crossing, "INFO", iface("{count} steps were repeated: colliders pinch cloth")),
        (report.contacts, "MOD_PHYSICS", iface("{count} vertices touch obstacles")),
        (report.self_contacts, "MOD_CLOTH", iface("{count} vertices touch cloth")),
    )
    for count, icon, sentence in counted:
        if count:
            draw_sentence(layout, context, sentence.format(count=count), icon)


def draw_frames(context: Context, layout: Layout, running: session.Record) -> None:
    """Which frames are there, where they are kept, and why others do not hold."""
    first, last = session.valid_frames(context.scene)
    if running.scene_sim is not None and first <= last:
        said = iface("Frames {first} to {last} simulated, {size} in memory")
        said = said.format(first=first, last=last, size=file_size(running.cache_bytes))
        draw_sentence(layout, context, said, "FILE_CACHE")
    lost = session.invalidated_frames(context.scene)
    if lost is not None:
        said = iface("From frame {first} on: {why}").format(first=lost.first, why=lost.why)
        draw_sentence(layout, context, said, "INFO")
    if running.disk_note:
        draw_sentence(layout, context, error_sentences.in_users_language(running.disk_note), "ERROR")
    disturbed, by = session.disturbed(context.scene)
    if disturbed is not None:
        said = iface(DISTURBED[by]).format(frame=disturbed)
        draw_sentence(layout, context, said, "INFO")
