"""Commands that search while somebody waits. They show progress, stop in time, and write the best result
found so far.
"""
