"""The one error that the bridge shows to users."""


class PBDError(Exception):
    """Something a user can put right: one sentence that names the object and says what to do."""
