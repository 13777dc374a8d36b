"""Four countries with 21 primary cells. The table of CC and that of DD each have one that
they do not protect to its level.
"""

from __future__ import annotations

from pathlib import Path

from support.desk import Desk, new_desk

# Two squares of hidden cells, activities C D and E F. In the first, every cell may be far from the truth,
# whichever are primary. In CC and DD the second one is weak: F.L can be higher by 2 000 at most, and its
# level asks for a tenth, 50 000.
STRONG = """
            _T          S          L
    TOTAL   3000000 F   1500000 F  1500000 F
    C       750000 F    251409 A   498591 A
    D       750000 F    498591 {d_s}  251409 A
    E       750000 F    310407 {e_s}   439593 D
    F       750000 F    439593 D   310407 {f_l}
"""
WEAK = """
            _T          S          L
    TOTAL   2605000 F   1352000 F  1253000 F
    C       750000 F    251409 A   498591 A
    D       750000 F    498591 {d_s}  251409 A
    E       603000 F    600000 D   3000 D
    F       502000 F    2000 D     500000 A
"""
DRAWINGS = {
    "AA": STRONG.format(d_s="A", e_s="A", f_l="A"),
    "BB": STRONG.format(d_s="A", e_s="A", f_l="A"),
    "CC": WEAK.format(d_s="A"),
    "DD": WEAK.format(d_s="D"),
}
PRIMARIES, PROTECTED = 21, 19
WEAK_CELLS = ("CC.TURNOVER.F.L", "DD.TURNOVER.F.L")
SAID = "19 of 21 primaries protected; 2 only as far as their national table allows (CC 1, DD 1)"


def weak_desk(folder: Path) -> Desk:
    """The desk with these deliveries."""
    desk = new_desk(folder, **DRAWINGS)
    (folder / "activities.csv").write_text(
        "code,parent\nTOTAL,\n" + "".join(f"{code},TOTAL\n" for code in "CDEF")
    )
    return desk
