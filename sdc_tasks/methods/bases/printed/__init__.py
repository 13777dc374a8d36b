"""The values that are printed within safe intervals.

additive              values that add up
possible              no value that the other values exclude
implied               no interval wider than the one that the other cells imply
visible_share_rule    the sum of the visible countries instead of a withheld total
"""
