"""Which code is mutated under which name, and which tests must notice: the one place that knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from mutants import python, statements
from mutants.change import ROOT, Mutant, read

ENGINE = {"sqlite": "not postgresql", "postgresql": "not sqlite"}  # what pytest leaves out, by -k
WAREHOUSE = "tests/integration/test_warehouse"
SECURITY = "tests/security/test_"


@dataclass(frozen=True)
class Module:
    """Files, or the statements of an engine, and the tests that belong to them, those that tell soonest
    first.
    """

    tests: tuple[str, ...]
    files: tuple[str, ...] = ()
    engine: str = ""
    only: str = field(default="")  # of pytest: -k

    def mutants(self) -> list[Mutant]:
        """All that the operators make of it."""
        found = statements.mutants(statements.live(self.engine)) if self.engine else []
        for file in sorted(
            path.relative_to(ROOT).as_posix() for pattern in self.files for path in ROOT.glob(pattern)
        ):
            found += (
                python.mutants(file, read(file))
                if file.endswith(".py")
                else statements.mutants(statements.whole(file))
            )
        return found


GATE = (
    f"{WAREHOUSE}_gate.py",
    f"{SECURITY}printed_is_audited.py",
    f"{SECURITY}told_twice.py",
    "tests/integration/test_profiles.py",
    f"{SECURITY}four_eyes.py",
    f"{SECURITY}each_guard.py",
    "tests/integration/test_one_secret.py",
    "tests/integration/test_related.py",
    f"{WAREHOUSE}_log.py",
    f"{SECURITY}log_poison.py",
    f"{WAREHOUSE}.py",
    f"{WAREHOUSE}_keys.py",
)
MODULES = {
    "sqlite": Module((*GATE, f"{SECURITY}sqlite_prompt.py"), engine="sqlite", only=ENGINE["sqlite"]),
    "postgresql": Module(
        (
            *GATE,
            f"{SECURITY}functions_of_the_owner.py",
            f"{SECURITY}world_sees_what_is_out.py",
            f"{WAREHOUSE}_roles.py",
        ),
        engine="postgresql",
        only=ENGINE["postgresql"],
    ),
    "checks": Module((f"{WAREHOUSE}.py", *GATE[:-2]), files=("sql/checks/*.sql",)),
    "publisher": Module(
        (*GATE[:2], f"{WAREHOUSE}.py", f"{WAREHOUSE}_cycles.py", f"{SECURITY}each_guard.py"),
        files=("sdc_tasks/warehouse/dissemination/publisher.py", "sdc_tasks/warehouse/forms/canonical.py"),
    ),
    "log": Module(
        (
            f"{WAREHOUSE}_log.py",
            f"{SECURITY}four_eyes.py",
            f"{WAREHOUSE}_gate.py",
            f"{WAREHOUSE}.py",
            f"{SECURITY}each_guard.py",
        ),
        files=(
            "sdc_tasks/warehouse/log.py",
            "sdc_tasks/warehouse/operations/journal.py",
            "sdc_tasks/warehouse/operations/decisions.py",
            "sdc_tasks/warehouse/forms/people.py",
        ),
    ),
    "keys": Module(
        (
            "tests/unit/test_warehouse_keyring.py",
            f"{WAREHOUSE}_keys.py",
            "tests/acceptance/test_no_oracle.py",
            f"{SECURITY}each_guard.py",
        ),
        files=(
            "sdc_tasks/warehouse/keyring.py",
            "sdc_tasks/warehouse/confidential/secret.py",
            "sdc_tasks/warehouse/confidential/maintenance.py",
        ),
    ),
    "attack": Module(
        (
            "tests/unit/test_attack_parts.py",
            "tests/unit/test_attack_proof_state.py",
            "tests/golden",
            "tests/property/test_attack_by_hand.py",
            "tests/property/test_attack_laws.py",
            "tests/property/test_attack_linked.py",
            "tests/property/test_attack_together.py",
            "tests/property/test_attack_profiles.py",
            "tests/property/test_attack_release_gate.py",
            "tests/property/test_attack_integer.py",
            "tests/property/test_attack_vintages.py",
            "tests/property/test_release_counts_laws.py",
            "tests/property/test_replay_laws.py",
            "tests/property/test_rule_aware_laws.py",
        ),
        files=("sdc_tasks/methods/attack/*.py", "sdc_tasks/methods/attack/*/*.py"),
    ),
    "bases": Module(
        (
            "tests/unit/test_bases_options.py",
            "tests/unit/test_bases_wishes.py",
            "tests/property/test_bases_cover.py",
            "tests/property/test_bases_visible_share.py",
            "tests/property/test_bases_laws.py",
            "tests/property/test_bases_minimum_uncertainty.py",
            "tests/property/test_bases_options_laws.py",
            "tests/property/test_bases_suppression.py",
            "tests/property/test_bases_integer.py",
            "tests/property/test_profile_laws.py",
            "tests/property/test_bases_witness_guided.py",
            "tests/property/test_rule_aware_laws.py",
        ),
        files=("sdc_tasks/methods/bases/*.py", "sdc_tasks/methods/bases/*/*.py"),
    ),
    "judge": Module(
        (
            "tests/unit/test_evidence_form.py",
            "tests/unit/test_judge_pieces.py",
            "tests/property/test_everyone_is_judged.py",
            "tests/unit/test_suppression_witnesses.py",
            "tests/property/test_program_laws.py",
            "tests/property/test_suppression.py",
            "tests/property/test_cta_laws.py",
            "tests/property/test_attack_profiles.py",
            "tests/property/test_attack_integer.py",
            "tests/property/test_attack_vintages.py",
            "tests/property/test_attack_weaker.py",
            f"{SECURITY}certificate_forgeries.py",
        ),
        files=("sdc_tasks/judge/*.py", "sdc_tasks/judge/*/*.py", "sdc_tasks/judge/*/*/*.py"),
    ),
    "intake": Module(
        (
            "tests/unit/test_intake.py",
            "tests/unit/test_intake_absent.py",
            "tests/unit/test_deliveries_together.py",
            "tests/unit/test_checks.py",
            "tests/unit/test_small_count_reading.py",
            "tests/unit/test_keys.py",
            f"{SECURITY}inbox.py",
            f"{SECURITY}inputs.py",
        ),
        files=(
            "sdc_tasks/intake/[!cjr]*.py",
            "sdc_tasks/intake/tables/codes.py",
        ),  # one delivery; counts, jj and rounding read other tables
    ),
}
