"""Samples of air: laundry and a sail in gusts, an envelope of hot air, and balloons on strings in a draft."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import hung
import kit
import numpy as np
import stage
from mathutils import Matrix, Vector

LINE_HEIGHT, LINE_SAG, LINE_HALF = 1.80, 0.06, 1.85
"""Of the clothesline: height of its ends, how far its middle hangs below them, and half of its length [m]."""


def line_height(x: np.ndarray | float) -> np.ndarray | float:
    """Height of the clothesline above the floor at x [m]; a parabola is a catenary that is hardly bent."""
    return LINE_HEIGHT - LINE_SAG * (1.0 - (x / LINE_HALF) ** 2)


def laundry() -> None:
    """A sheet, a shirt and two towels, pegged on a line in gusts."""
    scene = kit.begin(frames=96)
    kit.set_pbd(scene, wind_speed=2.3, wind_direction=(0.5, -1.0, 0.0), wind_turbulence=40.0, wind_eddy=1.2)
    stage.build((0.10, 0.30, 0.42))
    wood, rope = stage.wood("Ash", (0.46, 0.25, 0.10)), stage.matte("Rope", (0.80, 0.74, 0.62))
    for side in (-1.0, 1.0):
        x = side * LINE_HALF
        foot = [(0.20, 0.0), (0.20, 0.03), (0.035, 0.06), (0.032, LINE_HEIGHT + 0.06), (0.0, LINE_HEIGHT + 0.07)]
        stage.turned("Post", foot, wood).location.x = x
        stage.add_rod("Bar", (x, -0.28, LINE_HEIGHT), (x, 0.28, LINE_HEIGHT), 0.022).data.materials.append(wood)
    way = np.linspace(-LINE_HALF, LINE_HALF, 41)
    add_tube("Line", np.column_stack([way, 0.0 * way, line_height(way)]), 0.004, rope)

    wicker = stage.matte("Wicker", (0.30, 0.15, 0.06))
    basket = [
        (0.20, 0.0),
        (0.21, 0.01),
        (0.25, 0.24),
        (0.265, 0.25),
        (0.25, 0.26),
        (0.235, 0.25),
        (0.19, 0.02),
        (0.0, 0.02),
    ]
    stage.turned("Basket", basket, wicker).location = (-0.35, -0.55, 0.0)

    # It is wet: twice as heavy as when it is dry.
    cotton = {"density": 0.25, "stretch": 6000.0, "compression": 6000.0, "shear": 80.0, "bend": 1.2e-5}
    white, cream = (0.86, 0.81, 0.66), (0.84, 0.76, 0.60)
    sheet = add_pegged("Sheet", (25, 25), (1.12, 1.12), (-1.16, 1.05), 4, wood, **cotton)
    paint(sheet, np.tile(np.arange(24) // 3 % 2, 24), {"Coral": (0.70, 0.10, 0.05), "Cream": cream})
    towel = add_pegged(
        "Towel", (12, 21), (0.48, 0.90), (0.93, 0.45), 2, wood, **{**cotton, "density": 0.4, "bend": 1e-4}
    )
    ends = np.isin(np.arange(20), (1, 3, 16, 18))
    paint(towel, np.repeat(ends, 11), {"Saffron": (0.72, 0.34, 0.03), "White": white})
    small = add_pegged("Tea Towel", (11, 13), (0.38, 0.46), (1.47, 0.355), 2, wood, **cotton)
    checks = np.arange(12)[:, None] // 2 % 2 + np.arange(10) // 2 % 2
    paint(small, checks, {"White": white, "Sky": (0.28, 0.48, 0.66), "Blue": (0.03, 0.14, 0.36)})
    add_shirt("Shirt", 0.03, wood, {"Teal": (0.02, 0.24, 0.24), "Cream": cream}, **cotton)
    stage.add_camera((0.9, -5.7, 1.3), (-0.01, 0.0, 0.98), 49.0)


def paint(cloth: bpy.types.Object, choice: np.ndarray, colors: dict[str, tuple[float, float, float]]) -> None:
    """Give the faces of a cloth fabrics of these colors; see `stage.paint`."""
    stage.paint(cloth, [stage.fabric(*one) for one in colors.items()], choice)


def add_tube(name: str, points: np.ndarray, radius: float, made_of: bpy.types.Material) -> bpy.types.Object:
    """A round line through points (k, 3) [m]."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions, curve.bevel_depth, curve.bevel_resolution = "3D", radius, 3
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    spline.points.foreach_set("co", np.column_stack([points, np.ones(len(points))]).astype(np.float32).ravel())
    drawn = stage.new_object(name, curve)
    bpy.context.view_layer.update()
    tube = stage.new_object(name, bpy.data.meshes.new_from_object(drawn))
    bpy.data.curves.remove(curve)
    tube.name = name
    tube.data.materials.append(made_of)
    return tube


def add_pegged(
    name: str,
    counts: tuple[int, int],
    size: tuple[float, float],
    span: tuple[float, float],
    pegs: int,
    wood: bpy.types.Material,
    **settings: object,
) -> bpy.types.Object:
    """A cloth grid that hangs from the line by pegs, gathered a little between them.

    Args:
        name: Of the object.
        counts: Vertices across and down.
        size: Width and height [m].
        span: Middle of its upper hem along the line, and the distance of its outer pegs [m].
        pegs: How many.
        wood: Of the pegs.
        settings: Of `Object.pbd`.
    """
    cloth = kit.add_cloth(name, counts, size, (0.0, 0.0, 0.0), friction=0.5, **settings)
    x, wave = hung.drawn_together(size[0], span[1], (pegs - 1) / 2.0, counts[0])
    x = x + span[0]
    down = np.linspace(size[1], 0.0, counts[1])  # the first row of the grid is its lower hem
    positions = np.empty((counts[1], counts[0], 3))
    positions[..., 0], positions[..., 1], positions[..., 2] = x, wave, line_height(x) - down[:, None]
    kit.place_vertices(cloth.data, positions.reshape(-1, 3))
    places = np.round(np.linspace(0, counts[0] - 1, pegs)).astype(int)
    upper = (counts[1] - 1) * counts[0]
    peg(cloth, np.unique(np.clip([places, places + 1 - 2 * (places > counts[0] // 2)], 0, counts[0] - 1)) + upper, wood)
    stage.soften(cloth)
    return cloth


def peg(cloth: bpy.types.Object, ids: np.ndarray, wood: bpy.types.Material) -> None:
    """Hold vertices of a cloth, pairs of neighbors, with a peg on each pair."""
    group = cloth.vertex_groups.new(name="Pegs")
    group.add(ids.tolist(), 1.0, "REPLACE")
    cloth.pbd.pin_group = group.name
    for pair in kit.vertices_of(cloth.data)[ids].reshape(-1, 2, 3):
        x = pair[:, 0].mean() + cloth.location.x
        kit.add_block("Peg", (x, 0.0, line_height(x) - 0.012), (0.014, 0.022, 0.075), wood)


SHIRT_CELL = 0.048
"""Length of the edges of the shirt [m]."""

SHIRT_ROWS, SHIRT_COLUMNS, SLEEVE = 17, 13, (5, 5)
"""Faces of the shirt's body down and across, and of each sleeve along and across."""


def add_shirt(
    name: str,
    x: float,
    wood: bpy.types.Material,
    colors: dict[str, tuple[float, float, float]],
    **settings: object,
) -> bpy.types.Object:
    """A shirt of two layers, sewn along shoulders, sleeves and sides, that hangs by its shoulders from the line.

    Args:
        name: Of the object.
        x: Of its middle, along the line [m].
        wood: Of the pegs.
        colors: Of the shirt and of its bands.
        settings: Of `Object.pbd`.
    """
    long, wide = SLEEVE
    columns = SHIRT_COLUMNS + 2 * long
    cut = np.ones((SHIRT_ROWS, columns), bool)  # from the shoulders down
    cut[wide:, :long] = cut[wide:, -long:] = False
    middle = columns // 2
    layers = [cut.copy(), cut.copy()]
    layers[0][0, middle - 2 : middle + 3] = layers[0][1, middle - 1 : middle + 2] = False  # the neck, in front
    ids = np.arange((SHIRT_ROWS + 1) * (columns + 1)).reshape(SHIRT_ROWS + 1, columns + 1)
    row, column = np.divmod(ids, columns + 1)
    # Sewn are the outlines but for the neck, the hem, and the ends of the sleeves.
    sewn = (row == 0) & (np.abs(column - 0.5 * columns) > 2.6)
    sewn |= (row == wide) & ((column <= long) | (column >= columns - long))
    sewn |= (row >= wide) & ((column == long) | (column == columns - long))
    other = np.where(sewn, ids, ids + ids.size)
    faces = []
    for layer, at in zip(layers, (ids, other), strict=True):
        quads = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1)[layer]
        faces += (quads if at is ids else quads[:, ::-1]).tolist()
    across = (column - 0.5 * columns) * SHIRT_CELL
    beyond = np.maximum(np.abs(across) - 0.5 * SHIRT_COLUMNS * SHIRT_CELL, 0.0)
    flat = np.stack([across, 0.0 * across, -row * SHIRT_CELL - 0.35 * beyond], axis=-1).reshape(-1, 3)
    apart = np.array([0.0, 0.012, 0.0]) * ~sewn.reshape(-1, 1)
    positions = np.concatenate([flat - apart, flat + apart])
    used, corners = np.unique(faces, return_inverse=True)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions[used].tolist(), [], corners.reshape(-1, 4).tolist())
    shirt = stage.new_object(name, mesh)
    shirt.location = (x, 0.0, line_height(x))
    kit.select([shirt])
    bpy.ops.object.pbd_add(type="CLOTH")
    kit.set_pbd(shirt, friction=0.5, **settings)
    pegged = [column for side in (middle - 4, middle + 4) for column in (side, side + 1)]
    peg(shirt, np.searchsorted(used, ids[0, pegged]), wood)
    stage.soften(shirt)
    rows = np.broadcast_to(np.arange(SHIRT_ROWS)[:, None], cut.shape)
    paint(shirt, np.concatenate([np.isin(rows[one], (8, 9, 12, 13)) for one in layers]), colors)
    return shirt


def add_strings(obj: bpy.types.Object, radius: float, made_of: bpy.types.Material) -> None:
    """Show the loose edges of an object as round strings of a radius [m]; they are simulated as strings."""
    group = bpy.data.node_groups.new("Strings", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    nodes = {
        name: group.nodes.new(kind)
        for name, kind in {
            "in": "NodeGroupInput",
            "faces": "GeometryNodeInputMeshEdgeNeighbors",
            "loose": "FunctionNodeCompare",
            "curve": "GeometryNodeMeshToCurve",
            "circle": "GeometryNodeCurvePrimitiveCircle",
            "tube": "GeometryNodeCurveToMesh",
            "made": "GeometryNodeSetMaterial",
            "join": "GeometryNodeJoinGeometry",
            "out": "NodeGroupOutput",
        }.items()
    }
    nodes["loose"].data_type, nodes["loose"].operation = "INT", "EQUAL"
    nodes["circle"].inputs["Resolution"].default_value = 8
    nodes["circle"].inputs["Radius"].default_value = radius
    nodes["made"].inputs["Material"].default_value = made_of
    compared = [socket for socket in nodes["loose"].inputs if socket.enabled and socket.type == "INT"]
    for start, end in (
        (nodes["faces"].outputs["Face Count"], compared[0]),
        (nodes["in"].outputs[0], nodes["curve"].inputs["Mesh"]),
        (nodes["loose"].outputs["Result"], nodes["curve"].inputs["Selection"]),
        (nodes["curve"].outputs["Curve"], nodes["tube"].inputs["Curve"]),
        (nodes["circle"].outputs["Curve"], nodes["tube"].inputs["Profile Curve"]),
        (nodes["tube"].outputs["Mesh"], nodes["made"].inputs["Geometry"]),
        (nodes["made"].outputs["Geometry"], nodes["join"].inputs["Geometry"]),
        (nodes["in"].outputs[0], nodes["join"].inputs["Geometry"]),
        (nodes["join"].outputs["Geometry"], nodes["out"].inputs[0]),
    ):
        group.links.new(start, end)
    obj.modifiers.new("Strings", "NODES").node_group = group


BUNCH = (
    ("Red", (0.72, 0.03, 0.04), (-0.30, 0.02, 0.80)),
    ("Yellow", (0.80, 0.44, 0.01), (0.01, -0.14, 0.98)),
    ("Blue", (0.02, 0.16, 0.50), (0.31, 0.05, 0.84)),
    ("Green", (0.05, 0.36, 0.10), (-0.16, 0.16, 1.17)),
    ("White", (0.82, 0.78, 0.70), (0.18, 0.14, 1.26)),
)
"""The party balloons: name, color, and where the middle of each is [m]."""

STRING_STEPS = 10
"""Edges of a string."""


def party_balloons() -> None:
    """Five balloons of helium on strings in a draft; they pull at their strings and bump into each other."""
    scene = kit.begin(frames=96)
    stage.build((0.34, 0.12, 0.20))
    kit.set_pbd(scene, wind_speed=0.9, wind_direction=(1.0, 0.3, 0.0), wind_turbulence=45.0, wind_eddy=0.8)
    twine = stage.matte("Twine", (0.80, 0.74, 0.64))
    weight = [(0.085, 0.0), (0.09, 0.01), (0.09, 0.06), (0.02, 0.09), (0.015, 0.105), (0.0, 0.11)]
    stage.turned("Weight", weight, stage.metal("Brass", (0.83, 0.58, 0.24)))
    for name, color, place in BUNCH:
        add_party_balloon(name, color, Vector(place), Vector((0.0, 0.0, 0.108)), twine)
    stage.add_camera((0.4, -3.9, 0.9), (0.06, 0.0, 0.75), 60.0)


def add_party_balloon(
    name: str, color: tuple[float, float, float], place: Vector, held: Vector, twine: bpy.types.Material
) -> bpy.types.Object:
    """A toy balloon of helium, 28 cm wide, on a string that is held at its end.

    Args:
        name: Of the object.
        color: Of the rubber.
        place: Middle of the balloon [m].
        held: End of the string [m].
        twine: Material of the string.
    """
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.14)
    balloon = bpy.context.object
    balloon.name = balloon.data.name = name
    positions = kit.vertices_of(balloon.data).astype(float)
    low = np.clip(-positions[:, 2] / 0.14, 0.0, 1.0)  # below its middle it runs together into the knot
    positions[:, :2] *= (1.0 - 0.32 * low**2)[:, None]
    positions[:, 2] -= 0.055 * low**3
    kit.place_vertices(balloon.data, positions)
    # It stands on its string.
    balloon.location, balloon.rotation_euler = place, (place - held).to_track_quat("Z", "Y").to_euler()
    knot, end = int(positions[:, 2].argmin()), [0.0, 0.0, -(place - held).length]
    last = add_chain(balloon.data, knot, end, STRING_STEPS)
    bpy.ops.object.pbd_add(type="BALLOON")
    kit.set_pbd(balloon, gas_density=0.17, tethers=False, rubber=False)
    group = balloon.vertex_groups.new(name="Held")
    group.add([last], 1.0, "REPLACE")
    balloon.pbd.pin_group = group.name
    balloon.data.materials.append(stage.rubber(name, color))
    stage.soften(balloon)
    add_strings(balloon, 0.0012, twine)
    return balloon


def add_chain(mesh: bpy.types.Mesh, start: int, end: Sequence[float], steps: int) -> int:
    """Add a string of so many edges from a vertex to a place [m]; returns the vertex at its end."""
    first, edges = len(mesh.vertices), len(mesh.edges)
    way = np.linspace(mesh.vertices[start].co, end, steps + 1)[1:]
    mesh.vertices.add(steps)
    mesh.edges.add(steps)
    for at, place in enumerate(way):
        mesh.vertices[first + at].co = place
        mesh.edges[edges + at].vertices = (first + at - 1 if at else start, first + at)
    mesh.update(calc_edges=True, calc_edges_loose=True)
    return first + steps - 1


ENVELOPE_RADIUS, MOUTH_RADIUS, CONE = 0.5, 0.15, math.radians(40.0)
"""Of the hot-air balloon: its largest radius and that of its mouth [m], and half of the angle of its lower part."""

GORES, GORE_STEPS, RINGS = 12, 3, 24
"""Strips of its envelope, faces across each of them, and faces from the crown to the mouth."""

BASKET_WIDTH, BASKET_HEIGHT, ROPE = 0.15, 0.12, 0.24
"""Of the basket, and how far its rim hangs below the mouth [m]."""

FRAME_HEIGHT = 0.012
"""Of the lower vertices of the basket's frame above the floor, with room for the wicker around them [m]."""


def envelope_rings() -> tuple[np.ndarray, np.ndarray]:
    """Radii and heights above the middle of the ball of the envelope's rings, from above, (RINGS,) [m] each."""
    turn = np.linspace(0.0, 0.5 * math.pi + CONE, 200)  # the ball ends where the cone touches it
    ball = np.column_stack([np.sin(turn), np.cos(turn)]) * ENVELOPE_RADIUS
    long = (ball[-1, 0] - MOUTH_RADIUS) / math.sin(CONE)
    profile = np.concatenate([ball, [[MOUTH_RADIUS, ball[-1, 1] - long * math.cos(CONE)]]])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(profile, axis=0), axis=1))])
    rings = np.linspace(0.06 * along[-1], along[-1], RINGS)
    return np.interp(rings, along, profile[:, 0]), np.interp(rings, along, profile[:, 1])


def hot_air_balloon() -> None:
    """An envelope that is open below takes off with its basket when the air in it gets hot."""
    scene = kit.begin(frames=90)
    stage.build((0.16, 0.34, 0.52))
    kit.set_pbd(
        scene, use_floor=True, floor_height=0.0, floor_friction=0.8,
        wind_speed=0.4, wind_direction=(1.0, 0.2, 0.0), wind_eddy=1.0,
    )  # fmt: skip
    radius, height = envelope_rings()
    count = GORES * GORE_STEPS
    angle = 2.0 * math.pi * np.arange(count) / count
    raised = FRAME_HEIGHT + BASKET_HEIGHT + ROPE - height[-1]
    height += raised
    around = np.stack([np.cos(angle), np.sin(angle), np.ones(count)], axis=-1)
    rings = around * np.stack([radius, radius, height], axis=-1)[:, None]
    crown = [0.0, 0.0, ENVELOPE_RADIUS + raised]
    ids = np.arange(RINGS * count).reshape(RINGS, count)
    after = np.roll(ids, -1, axis=1)
    faces = [[RINGS * count, *pair] for pair in np.stack([ids[0], after[0]], axis=-1).tolist()]
    faces += np.stack([ids[:-1], ids[1:], after[1:], after[:-1]], axis=-1).reshape(-1, 4).tolist()
    mesh = bpy.data.meshes.new("Envelope")
    mesh.from_pydata([*rings.reshape(-1, 3).tolist(), crown], [], faces)
    envelope = stage.new_object("Envelope", mesh)
    gore = np.arange(count) // GORE_STEPS
    row = np.arange(RINGS)[:, None]  # the crown's triangles first
    color = np.where((row >= 10) & (row < 15), 2, gore % 2)
    half, rim = 0.5 * BASKET_WIDTH, []
    for at, (x, y) in enumerate(((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))):
        start = int(ids[-1, (2 * at + 1) * count // 8])
        rim.append(add_chain(mesh, start, (half * x, half * y, FRAME_HEIGHT + BASKET_HEIGHT), 3))
    frame = add_frame(mesh, rim)
    kit.select([envelope])
    # 20 g/m² of tissue paper and 40 g of basket.
    kit.set_balloon(
        envelope, density=0.02, stretch=1500.0, compression=1500.0, shear=600.0, bend=2e-6, damping=1.0,
        air_normal=0.31, air_tangent=0.02, pressure_mode="OVERPRESSURE", overpressure=0.0, tethers=False,
        friction=0.8,
    )  # fmt: skip
    kit.key(envelope, "pbd.gas_density", {1: 1.05, 10: 1.05, 44: 0.945})
    heavy = envelope.vertex_groups.new(name="Basket")
    heavy.add(frame, 1.0, "REPLACE")
    kit.set_pbd(envelope, density_group="Basket", density_low=1.0, density_high=60.0)
    red, cream, navy = (0.62, 0.03, 0.03), (0.84, 0.70, 0.42), (0.03, 0.06, 0.22)
    paint(envelope, color.ravel(), {"Red": red, "Cream": cream, "Navy": navy})
    stage.soften(envelope)
    add_strings(envelope, 0.002, stage.matte("Rope", (0.30, 0.20, 0.10)))
    add_basket(envelope, frame)
    stage.add_camera((0.8, -6.2, 1.0), (0.08, 0.0, 1.16), 56.0)


def add_frame(mesh: bpy.types.Mesh, rim: list[int]) -> list[int]:
    """Brace four vertices as the rim of a box, open above, that does not fold; returns its eight vertices."""
    first, edges = len(mesh.vertices), len(mesh.edges)
    lower = [first + at for at in range(4)]
    pairs = [(lower[0], lower[2]), (lower[1], lower[3])]
    for at in range(4):
        after = (at + 1) % 4
        pairs += [(rim[at], rim[after]), (lower[at], lower[after]), (rim[at], lower[at])]
        pairs += [(rim[at], lower[after]), (rim[after], lower[at])]
    places = [(*mesh.vertices[one].co[:2], FRAME_HEIGHT) for one in rim]
    mesh.vertices.add(4)
    mesh.edges.add(len(pairs))
    for one, place in zip(lower, places, strict=True):
        mesh.vertices[one].co = place
    for at, pair in enumerate(pairs):
        mesh.edges[edges + at].vertices = pair
    mesh.update(calc_edges=True, calc_edges_loose=True)
    return [*rim, *lower]


def add_basket(envelope: bpy.types.Object, frame: list[int]) -> bpy.types.Object:
    """A basket of wicker around a frame, which goes where three of its vertices go."""
    wicker, leather = stage.matte("Wicker", (0.36, 0.18, 0.06)), stage.matte("Leather", (0.10, 0.035, 0.015))
    wide, high, thick = BASKET_WIDTH, BASKET_HEIGHT, 0.014
    parts = [kit.add_block("Basket", (0.0, 0.0, 0.5 * thick), (wide + thick, wide + thick, thick), wicker)]
    for side in (-1.0, 1.0):
        reach = 0.5 * wide * side
        parts.append(kit.add_block("Side", (reach, 0.0, 0.5 * high), (thick, wide + thick, high), wicker))
        parts.append(kit.add_block("Side", (0.0, reach, 0.5 * high), (wide + thick, thick, high), wicker))
        parts.append(kit.add_block("Rim", (reach, 0.0, high), (1.6 * thick, wide + 1.6 * thick, 1.2 * thick), leather))
        parts.append(kit.add_block("Rim", (0.0, reach, high), (wide + 1.6 * thick, 1.6 * thick, 1.2 * thick), leather))
    with bpy.context.temp_override(
        active_object=parts[0], object=parts[0], selected_objects=parts, selected_editable_objects=parts
    ):
        bpy.ops.object.join()
    basket = parts[0]
    basket.parent, basket.parent_type = envelope, "VERTEX_3"
    basket.parent_vertices = [frame[0], frame[1], frame[6]]
    # Blender's frame of three vertices: X from the first to the second, Z across all of them.
    first, second, third = (envelope.data.vertices[one].co for one in basket.parent_vertices)
    along, across = (second - first).normalized(), (second - first).cross(third - first).normalized()
    turned = Matrix((along, across.cross(along), across)).transposed().to_4x4()
    basket.matrix_parent_inverse = (Matrix.Translation((first + second + third) / 3.0) @ turned).inverted()
    return basket


SAIL_STEPS = 28
"""Edges along each side of the spinnaker."""


def spinnaker() -> None:
    """The spinnaker of a model yacht hangs slack until the wind gets up, and is filled by gusts."""
    scene = kit.begin(frames=96)
    stage.build((0.05, 0.16, 0.26))
    # With the usual 20 steps, gusts lengthen a sail this light by 4 % at its corners.
    kit.set_pbd(scene, substeps=40, wind_direction=(1.0, 0.12, 0.0), wind_turbulence=35.0, wind_eddy=0.8)
    kit.key(scene, "pbd.wind_speed", {1: 0.5, 16: 0.5, 36: 4.0})
    varnish, white = stage.wood("Mahogany", (0.20, 0.05, 0.015)), stage.enamel("Hull", (0.78, 0.74, 0.66))
    spruce = stage.wood("Spruce", (0.56, 0.34, 0.14))
    add_hull(white, varnish)
    for x in (-0.32, 0.30):
        kit.add_block("Cradle", (x, 0.0, 0.06), (0.04, 0.26, 0.12), varnish)
    kit.add_block("Plinth", (0.0, 0.0, 0.015), (1.0, 0.30, 0.03), varnish)
    foot, top = Vector((0.06, 0.0, 0.28)), Vector((0.06, 0.0, 1.86))
    head, tack, clew = Vector((0.10, 0.0, 1.80)), Vector((0.46, -0.55, 0.62)), Vector((0.40, 0.58, 0.60))
    stage.add_rod("Mast", foot, top, 0.011).data.materials.append(spruce)
    stage.add_rod("Pole", (0.07, 0.0, 0.56), tack, 0.008).data.materials.append(spruce)
    rope = stage.matte("Rope", (0.80, 0.74, 0.62))
    for start, end in ((clew, (-0.50, 0.12, 0.30)), (tack, (-0.50, -0.12, 0.30)), (top, (-0.63, 0.0, 0.31))):
        stage.add_rod("Rope", start, end, 0.0025).data.materials.append(rope)
    add_sail("Spinnaker", (head, tack, clew), Vector((0.5, 0.0, 0.05)))
    stage.add_camera((4.5, -3.3, 1.15), (0.12, 0.0, 1.0), 66.0)


def add_hull(white: bpy.types.Material, varnish: bpy.types.Material) -> bpy.types.Object:
    """The hull of a model yacht, 1.3 m long, bow to +X, its deck 28 cm above the floor."""
    stations, girth = 28, 13
    u = np.linspace(0.0, 1.0, stations)
    beam = 0.175 * np.sin(math.pi * np.clip(0.16 + 0.84 * u, 0.0, 1.0)) ** 0.75
    beam[-1] = 0.004
    draft = 0.03 + 0.15 * np.sin(math.pi * np.clip(0.10 + 0.86 * u, 0.0, 1.0))
    deck = 0.28 + 0.05 * (u - 0.35) ** 2
    turn = np.linspace(-0.5 * math.pi, 0.5 * math.pi, girth)
    across = np.sign(np.sin(turn)) * np.abs(np.sin(turn)) ** 0.8
    rows = np.stack(
        [
            np.repeat(-0.65 + 1.3 * u, girth).reshape(-1, girth),
            np.outer(beam, across),
            deck[:, None] - np.outer(draft, np.cos(turn) ** 0.7),
        ],
        axis=-1,
    )
    ids = np.arange(stations * girth).reshape(stations, girth)
    sides = np.stack([ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]], axis=-1).reshape(-1, 4)
    planks = np.stack([ids[:-1, 0], ids[1:, 0], ids[1:, -1], ids[:-1, -1]], axis=-1)
    mesh = bpy.data.meshes.new("Hull")
    mesh.from_pydata(rows.reshape(-1, 3).tolist(), [], [*sides.tolist(), *planks.tolist(), ids[0].tolist()])
    hull = stage.new_object("Hull", mesh)
    stage.paint(hull, [white, varnish], np.repeat([0, 1, 0], [len(sides), len(planks), 1]))
    stage.smooth_but_edges(mesh)
    return hull


def add_sail(name: str, corners: Sequence[Vector], belly: Vector) -> bpy.types.Object:
    """A sail of ripstop nylon between three corners [m], which hold it, cut with a belly [m] in its middle."""
    n = SAIL_STEPS
    from_head, across = np.divmod(np.arange((n + 1) ** 2), n + 1)
    inside = across <= from_head
    b = np.stack([n - from_head, from_head - across, across], axis=-1)[inside] / n
    fullness = 1.5 * (1.0 - (b**2).sum(axis=1, keepdims=True))  # 0 at the corners, ¾ at the sides, 1 in the middle
    flat, middle = b @ np.array(corners), np.mean(corners, axis=0)
    positions = middle + (flat - middle) * (1.0 + 0.16 * fullness) + fullness * np.array(belly)
    number = np.full((n + 1) ** 2, -1)
    number[inside] = np.arange(inside.sum())
    number = number.reshape(n + 1, n + 1)
    upright = [[number[r, c], number[r + 1, c], number[r + 1, c + 1]] for r in range(n) for c in range(r + 1)]
    turned = [[number[r, c], number[r + 1, c + 1], number[r, c + 1]] for r in range(n) for c in range(r)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions.tolist(), [], np.array(upright + turned).tolist())
    sail = stage.new_object(name, mesh)
    kit.select([sail])
    bpy.ops.object.pbd_add(type="CLOTH")
    kit.choose_material(sail, "Ripstop Nylon")
    group = sail.vertex_groups.new(name="Corners")
    group.add([number[0, 0].item(), number[n, 0].item(), number[n, n].item()], 1.0, "REPLACE")
    sail.pbd.pin_group = group.name
    # Its panels run along the sides, and join in the middle; the colors change along the edges of faces.
    center = b[np.array(upright + turned)].mean(axis=1)
    panel = (n * np.maximum(center[:, 1], center[:, 2])).astype(int) // 4
    row = (n * (1.0 - center[:, 0])).astype(int)
    choice = np.select([row < 10, row < 12], [0, 3], 1 + panel % 2)
    colors = {
        "Red": (0.66, 0.03, 0.03), "Yellow": (0.80, 0.42, 0.01), "Blue": (0.01, 0.12, 0.40), "White": (0.84, 0.80, 0.66)
    }  # fmt: skip
    paint(sail, choice, colors)
    stage.soften(sail)
    return sail
