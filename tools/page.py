"""Pages of the repository: what our Markdown uses, as HTML."""

from __future__ import annotations

import html
import re

STYLE = (
    "body{max-width:56rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:#222}"
    "img{max-width:100%}table{border-collapse:collapse}td,th{padding:.3rem .6rem;text-align:left}"
)

IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
SPANS = ((re.compile(r"\*\*(.+?)\*\*"), r"<b>\1</b>"), (re.compile(r"\*(.+?)\*"), r"<em>\1</em>"))


def to_html(text: str, website: str = "") -> str:
    """Headings, lists, paragraphs, pictures, links, code and emphasis as HTML.

    Args:
        text: Markdown.
        website: Where the project is at home; a link into it leads there, and without one is plain text.
    """
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = block.splitlines()
        if lines[0].startswith("#"):
            marks, _, title = lines[0].partition(" ")
            blocks.append(f"<h{len(marks)}>{_spans(title, website)}</h{len(marks)}>")
            lines = lines[1:]
        if not lines:
            continue
        if block.startswith("<!--"):
            blocks.append(block)
        elif lines[0].startswith("- "):
            items = "\n".join(lines)[2:].split("\n- ")
            blocks.append("<ul>" + "".join(f"<li>{_spans(item, website)}</li>\n" for item in items) + "</ul>")
        else:
            blocks.append(f"<p>{_spans(' '.join(lines), website)}</p>")
    return "\n".join(blocks)


def _spans(text: str, website: str) -> str:
    """What stands within a line; what is code stays as it is."""
    parts = re.split(r"`([^`]+)`", text)
    for at in range(0, len(parts), 2):
        part = IMAGE.sub(r'<img src="\2" alt="\1">', html.escape(parts[at], quote=False))
        part = LINK.sub(lambda found: _link(*found.groups(), website), part)
        for span, by in SPANS:
            part = span.sub(by, part)
        parts[at] = part
    parts[1::2] = [f"<code>{html.escape(code)}</code>" for code in parts[1::2]]
    return "".join(parts)


def _link(words: str, address: str, website: str) -> str:
    if "://" in address or address.endswith(".html"):
        return f'<a href="{address}">{words}</a>'
    return f'<a href="{website.rstrip("/")}/blob/HEAD/{address}">{words}</a>' if website else words


def whole(title: str, body: str) -> str:
    """A page of its own."""
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )
