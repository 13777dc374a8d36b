"""Tools of the supply chain: `make sbom`, `make vulnerabilities`."""
