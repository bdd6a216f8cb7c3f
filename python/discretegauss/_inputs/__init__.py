"""Checks of the user's arguments: each is made exact, or refused with a message that names it."""
