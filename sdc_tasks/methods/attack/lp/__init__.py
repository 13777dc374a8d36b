"""The attack by linear programs: for attackers who do not know which values are whole numbers.

    attacker    the attackers of all profiles against one publication after another; used by the audit, by
                repair and by roundings
    prover      one profile's requirements of similar size, and the strategy: which LP, against whom, in
                which part of the table
    joint       LPs that push all open targets at once
    elastic     LPs that find a witness of one target at the least additional slack of the aggregates
    models      live LPs, hot-started from attack to attack

Only the prover decides what is searched next.
"""
