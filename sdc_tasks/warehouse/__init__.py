"""The store of deliveries, intermediate results, audits and releases. Start reading at `database/schema.py`.

database/        the tables and the connection to them
confidential/, operations/, dissemination/
                 the functions that write and read each schema of the database
forms/           canonical forms: digests, names of people, arrays as bytes
keyring.py       encryption of confidential bytes
log.py           who did what, as a chain of entries
reader.py        what pages and reports may see
"""
