"""One DAG for each domain file, also when another file is wrong."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowFailException

from sdc_dags.tasks import log
from sdc_tasks.domains import load_domain, schema
from sdc_tasks.errors import InvalidInput
from sdc_tasks.untrusted import printable


def domain_files() -> list[Path]:
    """The shipped domain files, then those of the folders in SDC_DOMAINS."""
    folders = [
        schema.HERE,
        *(Path(each) for each in os.environ.get("SDC_DOMAINS", "").split(os.pathsep) if each),
    ]
    return [file.resolve() for folder in folders for file in sorted(folder.glob("*.yaml"))]


def dags_of_domains(prefix: str, build: Callable[[schema.Domain, Path], DAG]) -> dict[str, DAG]:
    """The DAG of each domain file, by id. A later file with the same id wins. A file that cannot
    be used has a DAG that says so.

    A wrong file does not affect the DAGs of other domains. A refused file replaces the DAG of its own name:
    it was meant to change that domain, so the domain must not run with its old settings.
    """
    dags: dict[str, DAG] = {}
    for path in domain_files():
        try:
            domain = load_domain(path)
            dags[f"{prefix}_{domain.id}"] = build(domain, path)
        except InvalidInput as problem:
            refused = refused_dag(f"{prefix}_{dag_name(path)}", path, str(problem))
            dags[refused.dag_id] = refused
        except Exception as problem:
            log.exception("%s", path)
            said = (
                f"{path}: cannot be used ({type(problem).__name__}). Remedy: correct the file; "
                f"tell the maintainers"
            )
            refused = refused_dag(f"{prefix}_{dag_name(path)}", path, said)
            dags[refused.dag_id] = refused
    return dags


def source_of(domain: str) -> Path:
    """The domain file of this id, as `dags_of_domains` takes it. Raises InvalidInput where there is none."""
    found = None
    for path in domain_files():
        try:
            found = path if load_domain(path).id == domain else found
        except InvalidInput:
            continue
    if found is None:
        raise InvalidInput(f"no domain {domain!a}. Remedy: give the id of a domain file, such as sbs")
    return found


def dag_name(file: Path) -> str:
    """The name of a file, reduced to what the id of a DAG allows."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", file.stem)[:100]


def refused_dag(dag_id: str, file: Path, said: str) -> DAG:
    """A DAG that says that a domain file cannot be used."""
    said = printable(said)
    name = printable(str(file))
    with DAG(
        dag_id=dag_id,
        description=f"{printable(file.name)} is refused",
        doc_md=said,
        schedule=None,
        tags=["release", "refused"],
    ) as dag:

        @task(doc_md=f"**Red:** the domain file `{name}` must be corrected.")
        def domain_file() -> None:
            raise AirflowFailException(said)

        domain_file()
    return dag
