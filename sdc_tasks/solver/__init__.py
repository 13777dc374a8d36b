"""The solvers of linear and mixed-integer programs. Whoever imports them has linear algebra on one thread: see `one_thread.py`."""

from sdc_tasks.one_thread import one_thread

one_thread()
