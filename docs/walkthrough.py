"""The steps of the guide's pages for which there is a function here, as Blender does them, in the pages' order.

A page is a generator that begins in Blender's default scene and yields the heading of a section when its steps are
done. `reads` is told the bold words of each step before it is taken: the test compares them with the page, and the
scripts that make the pictures do not listen.
"""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import bpy

Reads = Callable[..., object]


def first_cloth(reads: Reads) -> Iterator[str]:
    """The steps of first_cloth.md; the sidebar acts on the active object, as it does in a window."""
    reads("File › New › General", "Delete")
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    reads("Add › Mesh › Cloth Grid")
    bpy.ops.mesh.primitive_pbd_cloth_add()
    cloth = bpy.context.object
    reads("PBD")
    play(60)
    yield "Hang a cloth"

    reads("Cotton", "Rubber Sheet", "Reset")
    apply_preset(cloth, "Rubber Sheet")
    bpy.ops.object.pbd_reset()
    play(40)
    reads("Stiffness", "Tension")
    cloth.pbd.stretch = 300.0
    play(60)
    yield "Choose what it is made of"

    reads("Rubber Sheet, changed", "Cotton", "Reset")
    apply_preset(cloth, "Cotton")
    bpy.ops.object.pbd_reset()
    reads("Edit Mode", "Pin Selected", "Object Mode")
    bpy.ops.object.mode_set(mode="EDIT")
    select(cloth, lambda place: place.y > 0.999)
    bpy.ops.object.pbd_pin_selected()
    bpy.ops.object.mode_set(mode="OBJECT")
    play(40)
    yield "Pin an edge"

    reads("Reset", "Shape", "Pin Group")
    bpy.ops.object.pbd_reset()
    cloth.pbd.pin_group = ""
    reads("Add › Mesh › UV Sphere", "Radius", "Location Z", "Add Collider")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, location=(0.0, 0.0, -0.6))
    bpy.ops.object.pbd_collider_add()
    make_active(cloth)
    play(40)
    yield "Drop it on something"

    reads("Object Collisions", "Floor", "Height", "Reset")
    bpy.context.scene.pbd.use_floor = True
    bpy.context.scene.pbd.floor_height = -1.1
    bpy.ops.object.pbd_reset()
    play(50)
    yield "Give it a floor"

    reads("Cache and Bake", "Simulation Range", "End")
    bpy.context.scene.pbd.use_range = True
    bpy.context.scene.pbd.range_end = 50
    reads("Bake")
    bpy.ops.object.pbd_bake(mode=cloth.pbd.bake_mode)
    yield "Bake it"

    reads("Delete Bake")
    bpy.ops.object.pbd_delete_bake()
    yield "Take the bake back"


def first_balloon(reads: Reads) -> Iterator[str]:
    """The steps of first_balloon.md."""
    reads("File › New › General", "Delete")
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    reads("Add › Mesh › Balloon", "Radius", "Location Z")
    bpy.ops.mesh.primitive_pbd_balloon_add(radius=0.3, location=(0.0, 0.0, 1.0))
    balloon = bpy.context.object
    reads("PBD", "Party Balloon", "Beach Ball")
    apply_preset(balloon, "Beach Ball")
    reads("Object Collisions", "Floor")
    bpy.context.scene.pbd.use_floor = True
    play(96)
    yield "Drop a ball"

    reads("Pressure", "Mode", "Volume", "Volume", "Reset")
    balloon.pbd.pressure = 1.2
    bpy.ops.object.pbd_reset()
    play(12)
    yield "Hold a volume"

    reads("Mode", "Overpressure", "Overpressure", "Reset")
    balloon.pbd.pressure_mode = "OVERPRESSURE"
    balloon.pbd.overpressure = 1000.0
    bpy.ops.object.pbd_reset()
    play(12)
    yield "Blow with a pressure"

    reads("Mode", "Gas", "Overpressure", "Reset")
    balloon.pbd.pressure_mode = "GAS"
    balloon.pbd.overpressure = 0.0
    bpy.ops.object.pbd_reset()
    play(14)
    yield "Lock the air in"

    reads("Beach Ball, changed", "Party Balloon", "Gas", "Helium", "Reset")
    apply_preset(balloon, "Party Balloon")
    balloon.pbd.gas = "HELIUM"
    bpy.ops.object.pbd_reset()
    play(25)
    yield "Let it rise"

    reads("Reset", "Delete")
    bpy.ops.object.pbd_reset()
    bpy.data.objects.remove(balloon)
    reads("Add › Mesh › Cube", "Size", "Location Z", "Edit Mode", "Subdivide", "Number of Cuts", "Object Mode")
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(0.0, 0.0, 0.5))
    cushion = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=9)
    bpy.ops.object.mode_set(mode="OBJECT")
    reads("Add Balloon", "Party Balloon", "Cushion")
    bpy.ops.object.pbd_add(type="BALLOON")
    apply_preset(cushion, "Cushion")
    play(30)
    yield "Blow up a mesh of your own"


def garments(reads: Reads) -> Iterator[str]:
    """The steps of garments.md."""
    reads("File › New › General", "Delete")
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    reads("Add › Mesh › Cone", "Radius 1", "Radius 2", "Depth", "Add Collider")
    bpy.ops.mesh.primitive_cone_add(radius1=0.25, radius2=0.1, depth=1.0)
    bpy.ops.object.pbd_collider_add()
    reads("Add › Mesh › Grid", "X Subdivisions", "Y Subdivisions", "Size", "Location Y", "Rotation X", "Add Cloth")
    bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=24, y_subdivisions=24, size=0.6, location=(0.0, -0.3, 0.3), rotation=(1.5707963, 0.0, 0.0)
    )
    skirt = bpy.context.object
    bpy.ops.object.pbd_add(type="CLOTH")
    reads("Edit Mode", "Flip")
    bpy.ops.object.mode_set(mode="EDIT")
    second_panel(skirt, (0.0, 0.6, 0.0))
    reads("Add Seam", "Add Seam", "Object Mode")
    for side in (-1.0, 1.0):
        select(skirt, lambda place, side=side: side * place.x > 0.299)
        bpy.ops.object.pbd_add_seam()
    bpy.ops.object.mode_set(mode="OBJECT")
    play(60)
    yield "Sew a skirt around a body"

    reads("Sewing")
    for frame, sewing in ((60, True), (61, False)):
        skirt.pbd.sewing = sewing
        skirt.pbd.keyframe_insert("sewing", frame=frame)
    play(80)
    yield "Open the seams"

    reads("File › New › General", "Delete")
    for obj in (skirt, bpy.data.objects["Cone"]):
        bpy.data.objects.remove(obj)
    reads("Add › Mesh › Grid", "X Subdivisions", "Y Subdivisions", "Size", "Location Z")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=24, y_subdivisions=24, size=0.5, location=(0.0, 0.0, 0.15))
    cushion = bpy.context.object
    reads("Add Balloon", "Party Balloon", "Cushion", "Floor")
    bpy.ops.object.pbd_add(type="BALLOON")
    apply_preset(cushion, "Cushion")
    bpy.context.scene.pbd.use_floor = True
    reads("Edit Mode", "Flip")
    bpy.ops.object.mode_set(mode="EDIT")
    second_panel(cushion, (0.0, 0.0, -0.1))
    reads("Select › Select Loops › Boundary of Selected", "Add Seam", "Object Mode")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.region_to_loop()
    bpy.ops.object.pbd_add_seam()
    bpy.ops.object.mode_set(mode="OBJECT")
    reads("Overpressure", "Closing Time")
    cushion.pbd.closing_time = 0.5
    for frame, pressure in ((20, 0.0), (30, 50.0)):
        cushion.pbd.overpressure = pressure
        cushion.pbd.keyframe_insert("overpressure", frame=frame)
    play(72)
    yield "Sew a cushion"

    bpy.data.objects.remove(cushion)
    bpy.context.scene.pbd.use_floor = False
    sew_shirt(reads)
    yield "Sew a shirt from four panels"

    for name in ("Grid", "Cylinder", "Cylinder.001", "Cylinder.002"):
        bpy.data.objects.remove(bpy.data.objects[name])
    import_bag(reads)
    yield "Import a pattern"

    bpy.data.objects.remove(bpy.data.objects["bag"])
    layer_garments(reads)
    yield "Put one garment over another"

    reads("File › New › General", "Delete")
    for name in ("Cone", "Cylinder", "Cylinder.001"):
        bpy.data.objects.remove(bpy.data.objects[name])
    reads("Add › Mesh › Cone", "Vertices", "Radius 1", "Radius 2", "Depth", "Base Fill Type", "Add Cloth")
    bpy.ops.mesh.primitive_cone_add(vertices=48, radius1=0.4, radius2=0.15, depth=0.5, end_fill_type="NOTHING")
    skirt = bpy.context.object
    bpy.ops.object.pbd_add(type="CLOTH")
    reads("Edit Mode", "Set Crease", "Angle", "Stiffness", "Alternate")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.object.pbd_set_crease(angle=1.5707963, stiffness=20.0, alternate=True)
    loop_cut(skirt, 15)
    reads("Pin Selected", "Object Mode")
    select(skirt, lambda place: place.z > 0.249)
    bpy.ops.object.pbd_pin_selected()
    bpy.ops.object.mode_set(mode="OBJECT")
    play(60)
    yield "Fold pleats into a skirt"

    bpy.data.objects.remove(skirt)
    reads("File › New › General", "Delete", "Add › Mesh › Cloth Grid", "Vertices X", "Y", "Make Proxy")
    bpy.ops.mesh.primitive_pbd_cloth_add(rx=201, ry=201)
    bpy.ops.object.pbd_make_proxy()
    play(12)
    yield "Simulate a coarse copy of a fine mesh"


def sew_shirt(reads: Reads) -> None:
    """The steps of the section about a shirt."""
    reads("File › New › General", "Delete")
    dummy = (
        (0.17, 0.8, -0.17, 0.0, ("Location Z",)),
        (0.06, 1.4, 0.17, 1.5707963, ("Location Z", "Rotation Y")),
        (0.05, 0.4, 0.33, 0.0, ("Location Z",)),
    )
    for radius, depth, height, turn, words in dummy:
        reads("Add › Mesh › Cylinder", "Radius", "Depth", *words, "Add Collider")
        bpy.ops.mesh.primitive_cylinder_add(
            radius=radius, depth=depth, location=(0.0, 0.0, height), rotation=(0.0, turn, 0.0)
        )
        bpy.ops.object.pbd_collider_add()
    reads("Add › Mesh › Grid", "X Subdivisions", "Y Subdivisions", "Size", "Location X", "Rotation X", "Add Cloth")
    bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=24, y_subdivisions=24, size=0.6, location=(0.31, -0.25, 0.07), rotation=(1.5707963, 0.0, 0.0)
    )
    shirt = bpy.context.object
    bpy.ops.object.pbd_add(type="CLOTH")
    reads("Edit Mode", "Faces")
    bpy.ops.object.mode_set(mode="EDIT")
    select(shirt, lambda place: place.x > -1e-3 and place.y < 1e-3)
    bpy.ops.mesh.delete(type="FACE")
    reads("3D Cursor", "Flip")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.duplicate()
    bpy.ops.transform.resize(value=(-1.0, 1.0, 1.0), center_override=(0.0, 0.0, 0.0))
    bpy.ops.mesh.flip_normals()
    reads("Add Seam")
    add_seam(shirt, lambda x, _z: abs(x) < 0.02)
    reads("Flip")
    second_panel(shirt, (0.0, 0.5, 0.0))
    reads("Add Seam", "Add Seam")
    for side in (1.0, -1.0):
        add_seam(shirt, lambda x, z, side=side: side * x > 0.15 and z > 0.36)
    reads("Add Seam", "Add Seam", "Object Mode")
    for side in (1.0, -1.0):
        add_seam(shirt, lambda x, z, side=side: 0.3 < side * x and (z < 0.08 if z > 0.06 else side * x < 0.32))
    bpy.ops.object.mode_set(mode="OBJECT")
    play(48)


def import_bag(reads: Reads) -> None:
    """The steps of the section about patterns; the drawing is that of the page."""
    drawing = (Path(__file__).parent / "garments.md").read_text(encoding="utf-8").partition("```svg\n")[2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bag.svg"
        path.write_text(textwrap.dedent(drawing.partition("   ```")[0]), encoding="utf-8")
        reads("File › New › General", "Delete", "File › Import › Sewing Pattern (.json, .svg)", "Edge Length")
        bpy.ops.object.pbd_import_pattern(filepath=str(path), edge=0.02)
    reads("Edit Mode", "Object Mode")
    bag = bpy.context.object
    back = bag.vertex_groups["back"].index
    ids = [vertex.index for vertex in bag.data.vertices if any(group.group == back for group in vertex.groups)]
    places = [bag.data.vertices[vertex].co for vertex in ids]
    middle = sum(place.x for place in places) / len(places)
    for place in places:
        place.x, place.y = 2.0 * middle - place.x - 0.4, 0.1 - place.y
    play(40)


def layer_garments(reads: Reads) -> None:
    """The steps of the section about a jacket over a shirt."""
    reads("File › New › General", "Delete")
    reads("Add › Mesh › Cone", "Radius 1", "Radius 2", "Depth", "Add Collider")
    bpy.ops.mesh.primitive_cone_add(radius1=0.25, radius2=0.1, depth=1.0)
    bpy.ops.object.pbd_collider_add()
    reads("Add › Mesh › Cylinder", "Vertices", "Radius", "Depth", "Cap Fill Type", "Location Z", "Add Cloth")
    bpy.ops.mesh.primitive_cylinder_add(
        vertices=48, radius=0.2, depth=0.4, end_fill_type="NOTHING", location=(0.0, 0.0, 0.2)
    )
    shirt = bpy.context.object
    bpy.ops.object.pbd_add(type="CLOTH")
    reads("Edit Mode", "Object Mode")
    bpy.ops.object.mode_set(mode="EDIT")
    loop_cut(shirt, 11)
    bpy.ops.object.mode_set(mode="OBJECT")
    shirt.scale.x = 1.2
    bpy.ops.object.duplicate()
    jacket = bpy.context.object
    jacket.rotation_euler.z = 1.5707963
    reads("Layer", "Layer")
    jacket.pbd.layer, shirt.pbd.layer = 2, 1
    play(48)


def add_seam(obj: bpy.types.Object, wanted: Callable[[float, float], bool]) -> None:
    """Select vertices of a mesh in Edit Mode by where they are seen from the front, x and z [m], and sew."""
    placed = obj.matrix_world.copy()
    select(obj, lambda place: wanted(*(placed @ place).xz))
    bpy.ops.object.pbd_add_seam()


def tearing(reads: Reads) -> Iterator[str]:
    """The steps of tearing.md."""
    reads("File › New › General", "Delete")
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    reads("Add › Mesh › Grid", "X Subdivisions", "Y Subdivisions", "Size", "Location Z", "Add Cloth")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=32, y_subdivisions=32, size=1.0, location=(0.0, 0.0, 1.0))
    sheet = bpy.context.object
    bpy.ops.object.pbd_add(type="CLOTH")
    reads("Edit Mode", "Select › Select Loops › Boundary of Selected", "Pin Selected", "Object Mode")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.region_to_loop()
    bpy.ops.object.pbd_pin_selected()
    bpy.ops.object.mode_set(mode="OBJECT")
    reads("Full", "Split for Tearing", "Everywhere")
    bpy.ops.object.pbd_split(where="EVERYWHERE")
    reads("Add › Mesh › UV Sphere", "Radius", "Location Z", "Add Collider")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.15, location=(0.0, 0.0, 1.3))
    ball = bpy.context.object
    bpy.ops.object.pbd_collider_add()
    reads("Location", "Location Z", "Location")
    for frame, height in ((1, 1.3), (17, 0.3)):
        ball.location.z = height
        ball.keyframe_insert("location", frame=frame)
    make_active(sheet)
    play(24)
    yield "Send a ball through a sheet"


def letters(reads: Reads) -> Iterator[str]:
    """The steps of letters.md."""
    reads("File › New › General", "Delete")
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    reads("Add › Mesh › Balloon from Text", "Text")
    bpy.ops.mesh.primitive_pbd_balloon_text_add(text="PBD")
    play(48)
    yield "Fill a word"

    reads("Hold", "Bold", "String", "Neck", "Flange", "Cells", "Inflate For")
    reads("Add › Mesh › Balloon from Text")
    curve = bpy.data.curves.new("Letter", "FONT")
    curve.body = "O"
    drawn = bpy.data.objects.new("Letter", curve)
    bpy.context.collection.objects.link(drawn)
    make_active(drawn)
    bpy.ops.mesh.primitive_pbd_balloon_text_add(from_selected=True)
    yield "Use a font or a shape of your own"


def inner_structure(reads: Reads) -> Iterator[str]:
    """The steps of inner_structure.md."""
    reads("File › New › General", "Delete")
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    reads("Add › Mesh › Grid", "X Subdivisions", "Y Subdivisions", "Size")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=16, y_subdivisions=16, size=1.0)
    mattress = bpy.context.object
    reads("Edit Mode", "Object Mode")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.extrude_region_move(TRANSFORM_OT_translate={"value": (0.0, 0.0, 0.12)})
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.normals_make_consistent(inside=False)
    bpy.ops.object.mode_set(mode="OBJECT")
    reads("Add Balloon", "Party Balloon", "Air Mattress", "Mode", "Overpressure", "Overpressure", "Floor")
    bpy.ops.object.pbd_add(type="BALLOON")
    apply_preset(mattress, "Air Mattress")
    settings = mattress.pbd
    settings.pressure_mode, settings.overpressure = "OVERPRESSURE", 300.0
    bpy.context.scene.pbd.use_floor = True
    play(12)
    yield "Keep a mattress flat, step 4"
    reads("Full", "Internal Springs", "Max Length", "Max Diversion", "Tension", "Compression")
    settings.internal_springs = True
    settings.internal_spring_length, settings.internal_spring_diversion = 0.2, 0.0
    settings.internal_tension, settings.internal_compression = 1e7, 0.0
    reads("Reset")
    bpy.ops.object.pbd_reset()
    play(12)
    yield "Keep a mattress flat"

    reads("Edit Mode", "Assign to New Group", "Object Mode")
    bpy.ops.object.mode_set(mode="EDIT")
    select(
        mattress, lambda place: max(abs(place.x), abs(place.y)) < 0.4 and abs(place.x * 16.0 / 3.0 % 1.0 - 0.5) > 0.4
    )
    bpy.ops.object.vertex_group_assign_new()
    bpy.ops.object.mode_set(mode="OBJECT")
    reads("Springs")
    settings.internal_group = mattress.vertex_groups.active.name
    reads("Reset")
    bpy.ops.object.pbd_reset()
    play(12)
    yield "Hold it together in rows"

    reads("Springs", "Mode", "Off", "Max Diversion", "Tension", "Compression")
    settings.internal_group = ""
    settings.pressure_mode = "OFF"
    settings.property_unset("internal_spring_diversion")
    settings.internal_tension = settings.internal_compression = 20_000.0
    reads("Reset")
    bpy.ops.object.pbd_reset()
    play(12)
    yield "Fill it with foam"


def second_panel(obj: bpy.types.Object, way: tuple[float, float, float]) -> None:
    """Duplicate all faces in Edit Mode, move the copy by `way` [m], and turn it over."""
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.duplicate()
    bpy.ops.transform.translate(value=way)
    bpy.ops.mesh.flip_normals()


def loop_cut(obj: bpy.types.Object, cuts: int) -> None:
    """Cut all edges between two faces in Edit Mode, as Ctrl R does."""
    import bmesh  # as in `select`

    edited = bmesh.from_edit_mesh(obj.data)
    edges = [edge for edge in edited.edges if len(edge.link_faces) == 2]
    bmesh.ops.subdivide_edges(edited, edges=edges, cuts=cuts, use_grid_fill=True)
    bmesh.update_edit_mesh(obj.data)


def play(last: int) -> None:
    """Play from the first frame to the last, as Space does."""
    for frame in range(bpy.context.scene.frame_start, last + 1):
        bpy.context.scene.frame_set(frame)


def apply_preset(obj: bpy.types.Object, name: str) -> None:
    """Choose a shipped material in the preset menu of the panel's header."""
    kind = obj.pbd.type.lower()
    files = (file for folder in bpy.utils.preset_paths(f"pbd_{kind}") for file in Path(folder).glob("*.py"))
    file = next(file for file in files if bpy.path.display_name(file.name, title_case=False) == name)
    bpy.ops.script.execute_preset(filepath=str(file), menu_idname=f"OBJECT_PT_pbd_{kind}_presets")


def select(obj: bpy.types.Object, wanted: Callable[..., bool]) -> None:
    """Select those vertices of a mesh in Edit Mode whose place `wanted` accepts, and no others."""
    import bmesh  # exists only after bpy, which a sorter of imports puts behind it

    edited = bmesh.from_edit_mesh(obj.data)
    for vertex in edited.verts:
        vertex.select_set(wanted(vertex.co))
    edited.select_flush_mode()
    bmesh.update_edit_mesh(obj.data)


def make_active(obj: bpy.types.Object) -> None:
    """Click on an object."""
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
