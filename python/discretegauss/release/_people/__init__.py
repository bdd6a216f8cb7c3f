"""Tables counted from records of people: `Plan.count`, from the lists to the noisy tables.

`categories` are the lists, `query` asks the people's library once, `kept` chooses records,
`tallies` counts them, and `counts` adds the noise. True counts live in `query` to `counts` alone.
Plans, files and command lines live in the folder above; nothing here reads or writes a file.
"""
