"""Secondary suppression by the receiver: cells of a national table that are hidden here because its own
suppression does not protect it.

options       what a domain file asks for
secondaries   which cells; the place to start reading
country       the table of one country as a problem of its own, for the attacker and for cell suppression
"""
