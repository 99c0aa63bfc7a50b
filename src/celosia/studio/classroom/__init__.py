"""A class: seats that students take with a code, tasks that a teacher sets, a board of results.

Nothing of a class is written to a disk: names and results are in memory until the class ends.
"""
