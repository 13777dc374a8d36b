"""The attack with integer knowledge, by mixed integer programs.

    attacker    the attackers of all profiles against one publication
    prover      one profile's requirements for integral cells, and the strategy: joint MILPs, then one for
                each target
    system      the polyhedron of the integer tables
    audit       the second half of an audit, and of a baseline, where values are whole numbers

A requirement that this prover leaves open counts as broken, and the report says so.
"""
