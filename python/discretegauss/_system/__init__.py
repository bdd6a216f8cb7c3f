"""Files, folders, memory, signals and the progress bar. Nothing here knows laws or noise."""
