"""Rewrites the links of HTML pages, so that they stay within a proxy.

Guarantees: pure; what is not a start tag stays as it is.
See also: `proxying` (when pages are rewritten).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Final, final

__all__ = ["rewrite_links"]

# The attributes with a URL that kube-apiserver rewrites, by tag.
_ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("a", "area", "base", "link"), ("href",)),
    **dict.fromkeys(("audio", "embed", "script", "source"), ("src",)),
    **dict.fromkeys(("blockquote", "del", "ins", "q"), ("cite",)),
    **dict.fromkeys(("frame", "iframe"), ("longdesc", "src")),
    "applet": ("codebase",),
    "body": ("background",),
    "button": ("formaction",),
    "command": ("icon",),
    "form": ("action",),
    "head": ("profile",),
    "html": ("manifest",),
    "img": ("longdesc", "src", "usemap"),
    "input": ("src", "usemap", "formaction"),
    "object": ("classid", "codebase", "data", "usemap"),
    "video": ("poster", "src"),
}
# As Go's html.EscapeString.
_ESCAPES: Final = {"&": "&amp;", "'": "&#39;", "<": "&lt;", ">": "&gt;", '"': "&#34;"}
_ESCAPED: Final = str.maketrans(_ESCAPES)


def rewrite_links(page: str, rewrite: Callable[[str], str]) -> str:
    """The page with every URL of an attribute replaced by `rewrite(url)`."""
    parser = _Rewriter(page, rewrite)
    parser.feed(page)
    parser.close()
    return parser.rewritten()


@final
class _Rewriter(HTMLParser):
    def __init__(self, page: str, rewrite: Callable[[str], str]) -> None:
        super().__init__(convert_charrefs=False)
        self._page = page
        self._rewrite = rewrite
        self._starts = [0]  # of the lines
        for line in page.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._parts: list[str] = []
        self._end = 0  # of what is in the parts

    def rewritten(self) -> str:
        return "".join([*self._parts, self._page[self._end :]])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._replace(tag, attrs, ">")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._replace(tag, attrs, "/>")

    def _replace(self, tag: str, attrs: list[tuple[str, str | None]], end: str) -> None:
        line, column = self.getpos()
        start = self._starts[line - 1] + column
        urls = _ATTRIBUTES.get(tag, ())
        texts = [
            f' {name}="{(self._rewrite(value) if name in urls else value).translate(_ESCAPED)}"'
            for name, value in ((name, value or "") for name, value in attrs)
        ]
        self._parts += [self._page[self._end : start], f"<{tag}{''.join(texts)}{end}"]
        self._end = start + len(self.get_starttag_text() or "")
