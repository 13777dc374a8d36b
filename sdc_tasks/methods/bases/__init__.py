"""Safe bases: how coarsely each aggregate cell must be published.

policy        from the problem to safe bases, as the domain file asks; the place to start reading
rules         the rules that choose bases
comparison    runs the rules side by side and takes the one that loses least
ladder        the bases that a cell may take, and rounding
strata        cells that share a base
wishes        cells that must stay precise
cta_rule      bases from an adjusted table
suppression   the rule that rounds nothing and withholds the least
search        cuts from attacks, choices that satisfy them, repair until no attack succeeds
integer       repair against attackers who know that values are integers
aware         bases that withstand an attacker who has the program
printed       the values that are printed within safe intervals
"""
