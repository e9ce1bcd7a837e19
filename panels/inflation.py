"""What inflates cloth, further down than that of balloons."""

from .pressure import Pressure


class ClothPressure(Pressure):
    """What inflates the cloth, such as a cushion: volume, overpressure or an amount of gas"""

    is_open = False
    of_type = "CLOTH"
    bl_label = "Pressure"
