"""The one error that the bridge shows to users."""


class PBDError(Exception):
    """Something a user can put right: one sentence that names the object and says what to do."""


class LateError(PBDError):
    """A frame takes longer than a window may wait; what is done so far stays."""


class DamagedFrame(PBDError):
    """A cached frame on disk is not what was written there.

    Attributes:
        frame: Its number.
    """

    def __init__(self, frame: int, sentence: str) -> None:
        super().__init__(sentence)
        self.frame = frame
