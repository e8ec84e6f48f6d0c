"""What every command and server waits for: the libraries that few of them need are not loaded."""

import subprocess
import sys

SELDOM = ("alembic", "langcodes", "pandas", "torch", "scipy", "boto3", "pyarrow", "openpyxl")


def test_a_start_loads_no_library_that_few_commands_need():
    loaded = f"print([n for n in {('flask', *SELDOM)} if n in sys.modules])"
    program = f"import sys, webapp; {loaded}; import webapp.app; {loaded}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "['flask']"], done.stdout + done.stderr
