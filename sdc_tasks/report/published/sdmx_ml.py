"""The table as SDMX-ML 3.0, structure-specific, flat: one `Obs` for each cell, with all dimensions and
attributes.

An attribute that a cell does not have is left out, and so is the value of a withheld cell. A reader finds the
types in the data structure of the data flow, which the header names.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from sdc_tasks.report.published.edition import Flat

_SCHEMAS = "http://www.sdmx.org/resources/sdmxml/schemas/v3_0"


def sdmx_ml(edition: Flat) -> bytes:
    """The message, in UTF-8."""
    urn, agency = escape(edition.urn), quoteattr(edition.agency)
    structure = quoteattr(f"{edition.urn}:ObsLevelDim:AllDimensions")
    head = f"""<?xml version="1.0" encoding="UTF-8"?>
<mes:StructureSpecificData xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xmlns:mes="{_SCHEMAS}/message" \
xmlns:ss="{_SCHEMAS}/data/structurespecific" xmlns:com="{_SCHEMAS}/common" xmlns:ns1={structure}>
<mes:Header>
<mes:ID>{escape(edition.name)}</mes:ID>
<mes:Test>false</mes:Test>
<mes:Prepared>{edition.instant}</mes:Prepared>
<mes:Sender id={agency}/>
<mes:Structure structureID="TABLE" namespace={quoteattr(edition.urn)} dimensionAtObservation="AllDimensions">
<com:StructureUsage>{urn}</com:StructureUsage>
</mes:Structure>
</mes:Header>
<mes:DataSet ss:structureRef="TABLE" xsi:type="ns1:DataSetType" action="Information">"""
    rows = (
        " ".join(f"{name}={quoteattr(text)}" for name, text in each.items()) for each in edition.observations
    )
    return "\n".join(
        [head, *(f"<Obs {row}/>" for row in rows), "</mes:DataSet>\n</mes:StructureSpecificData>\n"]
    ).encode()
