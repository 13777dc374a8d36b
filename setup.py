"""The part of the build that pyproject.toml cannot say: `sql/` lies beside the package
here, and inside it in a wheel.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithSql(build_py):
    """Copies `sql/` to `sdc_tasks/sql/` of the wheel. An editable installation reads the folder where it
    lies.
    """

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "sdc_tasks" / "sql"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree("sql", target, ignore=shutil.ignore_patterns("__pycache__"))


setup(cmdclass={"build_py": WithSql})
