"""What is in folders that exports and bakes write to."""

OLD = b"what was here before"


def names(folder):
    return sorted(str(entry.relative_to(folder)) for entry in folder.rglob("*"))
