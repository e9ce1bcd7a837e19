"""The words of the interface in other languages, one file each: a dictionary from the English text to the translation.

Blender looks here for what its own translations lack. A new language is a file beside the others and its line in
`LANGUAGES`; tests/blender/test_words.py says what is missing.
"""

from typing import Any

import bpy

from . import de_DE, es, fr_FR, ja_JP, zh_HANS

LANGUAGES = {
    "de_DE": de_DE.TEXTS,
    "es": es.TEXTS,
    "fr_FR": fr_FR.TEXTS,
    "ja_JP": ja_JP.TEXTS,
    "zh_HANS": zh_HANS.TEXTS,
}
"""Texts by Blender's name of the language."""

CONTEXTS = ("*", "Operator", "PBD")
"""Where Blender looks a text up: on panels and in tooltips, on the buttons of operators, and on those whose word Blender
has in another meaning."""

OWNER = __package__.removesuffix(".pbd_addon.blender.translations")


def tables() -> Any:
    """The texts as Blender takes them: by language, and there by context and English text."""
    return {
        language: {(context, text): translation for context in CONTEXTS for text, translation in texts.items()}
        for language, texts in LANGUAGES.items()
    }


def register() -> None:
    """Hand the texts to Blender."""
    bpy.app.translations.register(OWNER, tables())


def unregister() -> None:
    """Take them back."""
    bpy.app.translations.unregister(OWNER)
