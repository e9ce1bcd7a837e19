"""All samples, by the names of their files."""

from __future__ import annotations

import bedding
import blown
import character
import draped
import filled
import hung
import sewn
import torn
import turning

SAMPLES = {
    build.__name__: build
    for build in (
        hung.curtain,
        hung.flag,
        hung.stiffness_grid,
        filled.balloon,
        filled.cushion,
        filled.air_mattress,
        filled.letters,
        draped.tablecloth,
        turning.barrel,
        filled.pillow_fight,
        bedding.bed,
        turning.gears,
        draped.dress,
        character.cape,
        sewn.shirt,
        blown.laundry,
        blown.spinnaker,
        blown.hot_air_balloon,
        blown.party_balloons,
        torn.torn_flag,
        torn.burst_balloon,
        torn.torn_sheet,
    )
}
"""What builds each of the files; it leaves the scene open in Blender, ready to be saved or played."""
