"""The values that are printed within safe intervals.

additive    values that add up
possible    no value that the other values exclude
implied     no interval wider than what the other cells tell
charter     the sum of the visible countries instead of a withheld total
"""
