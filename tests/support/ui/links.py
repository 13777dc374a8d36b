"""The pages, as somebody finds them who follows every link."""

from __future__ import annotations

import html
import re
from typing import Any


def every_page(viewer: Any) -> dict[str, str]:
    """address → text, from the board along all links below /sdc; a dead one fails."""
    found: dict[str, str] = {}
    ahead = ["/sdc/"]
    while ahead:
        address = ahead.pop()
        if address not in found:
            answer = viewer.get(address)
            assert answer.status_code == 200, address
            found[address] = answer.text
            ahead += [
                each
                for each in re.findall(r'href="(/sdc[^"#]*)"', html.unescape(answer.text))
                if each not in found
            ]
    return found
