"""Safe bases: how coarsely each aggregate cell must be published.

policy        from the problem to safe bases, as the domain file asks; the place to start reading
rules         the rules that choose bases; comparison: they run side by side, and the one that loses least is
taken ladder        the bases that a cell may take, and rounding; strata: cells that share a base; wishes:
cells that must stay precise cta_rule      bases from an adjusted table
suppression   the rule that rounds nothing and withholds the least
search        cuts from attacks, choices that meet them, repair until no attack succeeds
whole         repair against attackers who know that values are whole numbers
printed       the values that are printed within safe intervals
"""
