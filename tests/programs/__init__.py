"""Python programs that tests start, forked from one process that has read the libraries already.

Reading them was most of what a short command or a benchmark's short run cost. ``warm.py`` is that
process, one for all the tests; ``start.py`` asks it, wherever a test (or a program that it started)
uses ``subprocess`` for ``parallax`` or for a script of the repository; ``become.py`` makes the copy
what a new interpreter would be. Servers are copies of a second such process.

A copy has the arguments, folder, environment, files and user mask of a real start, a number of its
own, signals and an exit status. A new interpreter is started as ever for any other command, for
``-c`` (``given.py`` does the same in a copy) and other options of Python, for another user or
session, and where the environment lacks ``TESTS_WARM_PROCESS`` or differs in what Python reads when
it starts: a test that is about the start itself takes that variable away (the fixture
``new_interpreter``).
"""
