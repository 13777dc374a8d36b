"""The attack by linear programs: for attackers who do not know which values are whole numbers.

    attacker    the attackers of all profiles, facing one publication after another; the audit, repair and
    roundings use it prover      one profile's requirements of similar size, and the strategy: which LP,
    against whom, in which part of the table joint       LPs that push all open items at once
    models      live LPs, hot-started from attack to attack

Only the prover decides what is searched next.
"""
