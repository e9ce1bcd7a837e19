"""What is in folders that exports and bakes write to, and a disk that is full."""

import contextlib

import pytest

OLD = b"what was here before"


def names(folder):
    return sorted(str(entry.relative_to(folder)) for entry in folder.rglob("*"))


@contextlib.contextmanager
def files_of_at_most(size):
    """No file may grow beyond so many bytes; what would is refused as on a full disk, by Linux and macOS."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
