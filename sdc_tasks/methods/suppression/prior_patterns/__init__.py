"""What is given about cells beside the table: an operator's instructions, and patterns of earlier
publications.
"""
