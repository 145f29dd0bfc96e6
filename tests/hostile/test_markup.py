"""What the campaign takes for an injection."""

from __future__ import annotations

import pytest
from hostile.markup import Page

HARMLESS = '<!doctype html><html><body><p class="x">text</p><a href="#here">go</a><script>own()</script></body></html>'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("text", "<script>evil()</script>"),
        ("text", "<img src=x>"),
        ("text", "<b>bold</b>"),
        ('class="x"', 'class="x" onclick="evil()"'),
        ("#here", "javascript:evil()"),
        ("#here", "https://elsewhere"),
        ("own()", "evil()"),
    ],
)
def test_injections_are_seen(before, after):
    with pytest.raises(AssertionError):
        Page(HARMLESS.replace(before, after)).check_against(Page(HARMLESS))


@pytest.mark.parametrize("broken", ["</p></p>", "<i>", '<p id="a"></p><p id="a"></p>'])
def test_broken_pages_are_refused(broken):
    with pytest.raises(AssertionError):
        Page(HARMLESS.replace("text", broken))


def test_text_is_text():
    Page(HARMLESS.replace("text", "&lt;script&gt;evil()&lt;/script&gt;")).check_against(Page(HARMLESS))
