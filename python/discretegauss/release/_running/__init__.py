"""Counts that are published every day: `Running`, its settings, its file and its tables.

`weights` is the mechanism, `running` adds the noise of a day, and `state_file` keeps what later
days need. Nothing here knows people, plans of several tables, or budgets that they share.
"""
