"""What a user passes, made exact or refused with a message that names it."""
