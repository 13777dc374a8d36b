"""Where deliveries, intermediate results, audits and releases are kept. Start reading at `database/schema.py`.

database/        the tables and the connection to them
confidential/, operations/, dissemination/
                 who writes each schema of the database, and what it holds
forms/           the one form of what is compared: digests, names of people, arrays as bytes
keyring.py       confidential bytes at rest
log.py           who did what, in a chain
reader.py        what pages and reports may see
"""
