"""Every word of the interface: tooltips say what a setting is and usually is, and translations fit.

The texts are those of the classes that Blender has registered, and, of what the drawings say themselves, those in the
sources: `text="..."` and the calls that translate.
"""

import ast
import dataclasses
import re
import string
import sys
import warnings
from itertools import product
from pathlib import Path

import bpy
import pytest

LANGUAGES = ("de_DE", "es", "fr_FR", "ja_JP", "zh_HANS")

NAMES = {"PBD", "XPBD", "NumPy", "Alembic", "USD", "glTF", "Y"}
"""The same in every language."""

OPERATORS = ("OBJECT_OT_pbd_", "MESH_OT_pbd_", "MESH_OT_primitive_pbd_")
PANELS = ("VIEW3D_PT_pbd_", "PHYSICS_PT_pbd_", "OBJECT_PT_pbd_")
GROUPS = (("Object", "pbd"), ("Object", "pbd_collider"), ("Scene", "pbd"))

BLENDERS_OWN = {
    "bl_idname",
    *("rna_type", "name", "align", "location", "rotation"),
    *("remove_name", "remove_active"),
}
"""Properties that Blender's own base classes bring, with their texts."""

TRANSLATED = {"iface", "tip", "rpt", "poll_message_set", "draw_sentence"}
"""Functions that take an English text and show it in the user's language."""


def registered(prefixes):
    return [getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith(prefixes)]


def group(owner, name):
    """What Blender knows of a group of settings."""
    return getattr(bpy.types, owner).bl_rna.properties[name].fixed_type


def operators():
    """What Blender knows of our operators: label, tooltip, properties."""
    for cls in registered(OPERATORS):
        domain, name = cls.__name__.split("_OT_")
        yield getattr(getattr(bpy.ops, domain.lower()), name).get_rna_type()


def visible_properties():
    """All properties that a user sees, as (where, property)."""
    ours = [one.preferences for one in bpy.context.preferences.addons if one.module.endswith("pbd_cloth")]
    known = [*(group(*place) for place in GROUPS), *(one.bl_rna for one in ours), *operators()]
    for struct in known:
        for prop in struct.properties:
            if prop.identifier not in BLENDERS_OWN and not prop.is_hidden:
                yield f"{struct.identifier}.{prop.identifier}", prop


def texts_in(node):
    """The texts that an expression may be, but for those that something is compared with."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.IfExp):
        return [*texts_in(node.body), *texts_in(node.orelse)]
    if isinstance(node, ast.BoolOp):
        return [text for value in node.values for text in texts_in(value)]
    if isinstance(node, ast.Dict):
        return [text for value in node.values for text in texts_in(value)]
    return []


def assigned(name, tree):
    """The texts that a name may be."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            yield from texts_in(node.value)


def meant_by(node, function, tree):
    """The texts that an argument may be, seen through the assignments of its function or, if none, of its file."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return [*assigned(node.id, function)] or [*assigned(node.id, tree)]
    return texts_in(node)


def returned(function):
    """What a function returns."""
    return [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]


def drawn_texts(source):
    """The texts that the functions of a file show themselves."""
    tree = ast.parse(source)
    yield from assigned("_verb", tree)
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        if function.returns is not None and ast.unparse(function.returns).endswith("Why"):
            yield from (text for value in returned(function) for text in meant_by(value, function, tree))
        for call in ast.walk(function):
            if not isinstance(call, ast.Call):
                continue
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            if name in TRANSLATED:
                yield from meant_by(call.args[2 if name == "draw_sentence" else 0], function, tree)
            elif "text" in keywords and "translate" not in keywords:
                yield from texts_in(keywords["text"])


def sources(extension):
    """The files of the extension that show texts, by their place in it."""
    root = Path(sys.modules[extension].__file__).parent
    parts = ("panels", "operators", "pbd_addon/blender")
    found = [path for part in parts for path in sorted((root / part).rglob("*.py"))]
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in found}


def kinds_of_constraints(extension):
    """Names under which the panel Times shows where the time went."""
    yield from ("Scene and keys", "Stretch", "Compression", "Shear")
    core = Path(sys.modules[extension].__file__).parent / "pbd_addon"
    for path in sorted(core.rglob("*.py")):
        if "blender" in path.relative_to(core).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "lap":
                yield from (text.capitalize() for text in texts_in(node.args[0]))
            elif (
                isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "name" and path.parent.name != "parts"
            ):
                yield from (text.capitalize() for text in texts_in(node.value))


def all_texts(extension):
    """Every English text that a user sees, and where it stands."""
    found = {}

    def add(text, where):
        if text and text not in NAMES and any(letter.isalpha() for letter in text):
            found.setdefault(text, where)

    for where, prop in visible_properties():
        add(prop.name, where)
        add(prop.description, where)
        for item in getattr(prop, "enum_items_static", None) or getattr(prop, "enum_items", ()):
            add(item.name, where)
            add(item.description, where)
    for struct in operators():
        add(struct.name, struct.identifier)
        add(struct.description, struct.identifier)
    for cls in registered(PANELS):
        if not hasattr(cls, "preset_subdir"):  # Blender changes the label of those while it draws
            add(cls.bl_label, cls.__name__)
        add(getattr(cls, "bl_category", ""), cls.__name__)
    for name, source in sources(extension).items():
        for text in assigned("bl_label", ast.parse(source)):
            add(text, name)
        for text in drawn_texts(source):
            add(text, name)
    for text in kinds_of_constraints(extension):
        add(text, "Times")
    errors = extension.bridge("error_sentences")
    for text in (*errors.SENTENCES, errors.PREFIXED):
        add(text, "error_sentences")
    for text in extension.module("pbd_addon.bodies.presets").ABOUT.values():
        add(text, "presets")
    for text in extension.bridge("settings.groups").SHORT_LABELS.values():
        add(text, "groups")
    for _what, *texts in extension.bridge("timeline.changes").AROUND.values():
        for text in texts:
            add(text, "changes")
    for row in extension.bridge("settings.raw_settings").OF_SCENE.values():
        add(row.label, "raw_settings")
    return found


def placeholders(text):
    """Names and formats of what is put into a text, in any order."""
    return sorted((name, form) for _before, name, form, _conversion in string.Formatter().parse(text) if name)


@pytest.fixture(scope="module")
def texts(extension):
    """Every English text that a user sees, and where it stands."""
    return all_texts(extension)


@pytest.fixture
def tables(extension):
    return extension.bridge("translations").LANGUAGES


def test_these_are_the_languages(tables):
    assert set(tables) == set(LANGUAGES)


@pytest.mark.newest
def test_what_is_not_translated_is_told(texts, tables):
    """A text without a translation is shown in English, which is no fault: the summary names it."""
    for (text, where), language in product(texts.items(), LANGUAGES):
        if text not in tables[language]:
            warnings.warn(f"{language} has no translation of {text!r} ({where})", stacklevel=1)


@pytest.mark.newest
def test_nothing_is_translated_that_is_not_shown(texts, tables):
    assert not [(language, text) for language in LANGUAGES for text in tables[language] if text not in texts]


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_fit_their_texts(tables, language):
    for text, translation in tables[language].items():
        assert translation.strip(), text
        assert translation == translation.strip(), text
        assert placeholders(translation) == placeholders(text), text
        assert not translation.endswith(("。", ".")) or text.endswith("."), text


def test_the_collection_sees_what_is_there(texts):
    for text in (
        "Tension",
        "Bake",
        "Press Space to simulate",
        "Frames {first} to {last} simulated, {size} in memory",
    ):
        assert text in texts
    assert len(texts) > 250


@pytest.mark.parametrize("language", LANGUAGES)
def test_blender_gets_labels_and_buttons(extension, tables, language):
    for_blender = extension.bridge("translations").tables()[language]
    for text, translation in tables[language].items():
        assert for_blender["*", text] == translation
        assert for_blender["Operator", text] == translation
        assert for_blender["PBD", text] == translation


@pytest.mark.skipif(not bpy.app.build_options.international, reason="this Blender knows English alone")
@pytest.mark.parametrize("language", LANGUAGES)
def test_blender_speaks_the_language(extension, tables, language):
    """Once the user has chosen it, and no more when the extension is off."""
    translate, texts = bpy.app.translations.pgettext_iface, tables[language]
    view = bpy.context.preferences.view
    before = view.language
    assert language in bpy.app.translations.locales
    view.language = language
    view.use_translate_interface = view.use_translate_tooltips = True
    try:
        assert translate("Press Space to simulate") == texts["Press Space to simulate"]
        assert translate("Tension") == texts["Tension"]
        assert translate("Bake in Background", "Operator") == texts["Bake in Background"]
        assert bpy.app.translations.pgettext_tip("Simulate this object while frames play") != (
            "Simulate this object while frames play"
        )
        extension.disable()
        assert translate("Press Space to simulate") == "Press Space to simulate"
    finally:
        view.language = before


def test_grab_has_a_word_of_its_own(extension, tables):
    """Blender's own translations know another Grab; ours is asked for in a context of its own."""
    assert bpy.types.OBJECT_OT_pbd_grab.bl_rna.translation_context == "PBD"
    assert tables["de_DE"]["Grab"] == "Greifen"


ERRORS = ("'Cloth' has no faces: add faces to simulate it", "Frame 7 is not simulated: play up to it")


@pytest.mark.parametrize("language", LANGUAGES)
def test_errors_are_translated_with_their_values(extension, tables, language):
    """As `iface` does it in a Blender that knows the language; this one may know English alone."""
    errors = extension.bridge("error_sentences")
    for sentence in ERRORS:
        template, values = errors._recognize(sentence)
        said = tables[language][template].format(**values)
        assert said != sentence
        assert all(value in said for value in values.values())


REFUSING = (
    *("frames/loop", "io/key_reduction", "io/sewing_pattern", "io/svg_pattern", "io/svg_paths", "io/vertex_textures"),
    *("meshes/panels", "meshes/proxy", "meshes/surface_points", "bodies/body", "bodies/rail", "bodies/test_sheets"),
    *("contact/collider", "air/wind"),
)
"""Files of the engine whose refusals a user can see."""

UNTRANSLATED = (
    *("there must be 1 key at least", "shapes must have shape", "slides need a rail", " weights must be at most 1"),
    *("edges must join different vertices", "An object was deleted during the", "it is of .+ vertices"),
    "the result could not be written",
)
"""Of what is raised, what arguments of the bridge cannot bring about, or nobody reads but a log."""

ENGLISH = ("assignments.py", "disk_load.py", "disk_format.py")
"""Files of the bridge for the command line, which is English, and on why a cache is not taken."""


def raised(source):
    """What a file raises as errors, with `.+` for values: regular expressions, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        said = node.exc.args[0]
        if getattr(node.exc.func, "id", "") in {"ValueError", "PBDError"} and isinstance(
            said, (ast.Constant, ast.JoinedStr)
        ):
            parts = said.values if isinstance(said, ast.JoinedStr) else [said]
            yield (
                "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in parts),
                node.lineno,
            )


def test_what_the_engine_refuses_has_a_template(extension):
    """A refusal may be the end of a sentence that the bridge begins."""
    root = Path(sys.modules[extension].__file__).parent / "pbd_addon"
    errors = extension.bridge("error_sentences")
    templates = errors.SENTENCES
    seen, missing = 0, []
    files = {name: (root / f"{name}.py").read_text(encoding="utf-8") for name in REFUSING}
    files |= {name: source for name, source in sources(extension).items() if not name.endswith(ENGLISH)}
    for name, source in files.items():
        for said, line in raised(source):
            seen += 1
            plain = said.replace("\\", "")
            body = said.removeprefix(".+: ").removeprefix(".+:\\ ")
            fits = any(re.fullmatch(f"(.* )?{body}", template, re.DOTALL) for template in templates)
            fits |= any(errors._recognize(before + plain.replace(".+", "7"))[0] for before in ("", "'a' "))
            if not fits and not any(text in plain for text in UNTRANSLATED):
                missing.append(f"{name}:{line}: {plain}")
    assert seen > 150 and not missing


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_error_is_translated(extension, tables, language):
    errors = extension.bridge("error_sentences")
    assert not [text for text in (*errors.SENTENCES, errors.PREFIXED) if text not in tables[language]]


def test_what_is_behind_a_name_is_translated(extension, tables, monkeypatch):
    """With the object or file as it is called; so is a sentence in a sentence."""
    errors = extension.bridge("error_sentences")
    monkeypatch.setattr(errors, "iface", lambda text: tables["de_DE"].get(text, text))
    for sentence, said in (
        ("'a.json': Panel 'left: top' has no edges", "'a.json': Schnittteil „left: top“ hat keine Kanten"),
        (
            "No loop: 9 frames are too few to fade over 5: it takes 10 at least",
            "Keine Schleife: 9 Einzelbilder sind zu",
        ),
        ("Flag: Tension must be at most 2, not 3", "Flag: Tension darf höchstens 2 sein, nicht 3"),
        ("The cache on disk is damaged: Panel 'a' has no area", "Der Cache auf der Platte ist beschädigt: Schnittteil"),
        ("nobody: knows this", "nobody: knows this"),
    ):
        assert errors.in_users_language(sentence).startswith(said)


def test_reports_are_translated(extension):
    """None is a text as it stands, nor one with values put in before Blender could look it up."""
    seen = 0
    for name, source in sources(extension).items():
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "report" and len(call.args) == 2:
                seen += 1
                assert not isinstance(call.args[1], (ast.Constant, ast.JoinedStr)), f"{name}:{call.lineno}"
            if isinstance(call, ast.FunctionDef) and call.name in {"run", "done", "stopped"}:  # `Action` reports these.
                for said in returned(call):
                    seen += 1
                    assert not isinstance(said, ast.JoinedStr) and not any(texts_in(said)), f"{name}:{said.lineno}"
    assert seen > 30


SOURCE = """
def draw(layout, context, count):
    layout.label(text="Shown")
    layout.label(text="Never", translate=False)
    layout.operator("object.pbd_bake", text="One" if count == "Compared" else "Many")
    line = iface("{count} faces").format(count=count)
    draw_sentence(layout, context, "A sentence", "INFO")
    other = "Seen through a name"
    draw_sentence(layout, context, iface(other), "INFO")
"""


def test_texts_of_a_drawing():
    assert set(drawn_texts(SOURCE)) == {"Shown", "One", "Many", "{count} faces", "A sentence", "Seen through a name"}


def test_every_setting_has_a_tooltip():
    for where, prop in visible_properties():
        assert prop.name, where
        assert len(prop.description) > 8, where
        assert prop.description != prop.name, where


def test_tooltips_end_without_a_full_stop():
    tooltips = [(struct.identifier, struct.description) for struct in operators()]
    assert all(text for _where, text in tooltips)
    tooltips += [(where, prop.description) for where, prop in visible_properties()]
    for where, text in tooltips:
        assert not text.endswith("."), where
        assert not text[:1].islower(), where
        assert "\n" not in text, where  # Its indentation would show in some versions of Blender.


def test_tooltips_of_numbers_name_a_usual_value():
    numbers = [(where, prop) for where, prop in visible_properties() if prop.type in {"INT", "FLOAT"}]
    assert len(numbers) > 30
    for where, prop in numbers:
        assert re.search(r"\d", prop.description), where


def test_units_are_told(extension):
    """In the tooltip: of a length beside the usual value, because Blender may show it in feet."""
    fields = dataclasses.fields(extension.module("pbd_addon.bodies.material").Material)
    units = {field.name: field.metadata["unit"] for field in fields if field.metadata["unit"]}
    assert len(units) > 10
    for where, prop in visible_properties():
        if prop.type != "FLOAT":
            continue
        if prop.unit == "LENGTH":
            assert re.search(r"\d m\b", prop.description), where
        elif prop.unit == "ROTATION":
            assert re.search(r"\d°", prop.description), where
        elif where.startswith("PBD_PG_object") and prop.identifier in units:
            assert units[prop.identifier] in prop.description or "N/m" in prop.description, where
