"""The attack by linear programs, for everybody who does not know which values are whole numbers.

    attacker    the attackers of all profiles, facing one publication after another: what the audit, repair and roundings ask
    prover      one profile's requirements of similar size, and the strategy: which LP, against whom, in which part of the table
    joint       LPs that push all open items at once
    models      live LPs, hot-started from attack to attack

The prover is the strategy; nothing else here decides anything.
"""
