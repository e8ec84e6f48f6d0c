"""What every command and server waits for: the libraries that few of them need are not loaded."""

import subprocess
import sys

SELDOM = ("alembic", "langcodes", "pandas", "torch", "scipy", "boto3", "pyarrow", "openpyxl")


def test_a_start_loads_no_library_that_few_commands_need():
    program = f"import sys, webapp; print([n for n in {SELDOM} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
