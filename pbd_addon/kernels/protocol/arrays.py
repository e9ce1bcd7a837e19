"""What kernels take: arrays by their type, axes and order in memory, in Numba's words, from which it compiles.

`:` stands for an axis with any stride, `::1` for one whose entries follow each other. A record is a `NamedTuple` of
these; to Numba it is a plain tuple, so kernels unpack it in their first lines.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

Vectors = Annotated[np.ndarray, "f8[:,::1]"]
"""One row for each axis, (3, n); packed, one for each particle, (n, 4)."""

Numbers = Annotated[np.ndarray, "f8[:]"]
Columns = Annotated[np.ndarray, "f8[:,:]"]
Cubes = Annotated[np.ndarray, "f8[:,:,::1]"]
DenseNumbers = Annotated[np.ndarray, "f8[::1]"]
Bytes = Annotated[np.ndarray, "i1[:]"]
Ids = Annotated[np.ndarray, "i8[:]"]
IdColumns = Annotated[np.ndarray, "i8[:,:]"]
DenseIds = Annotated[np.ndarray, "i8[::1]"]
DenseIdColumns = Annotated[np.ndarray, "i8[:,::1]"]
Flags = Annotated[np.ndarray, "b1[:]"]
Booleans = Annotated[np.ndarray, "b1[:,::1]"]

Indices = Annotated[np.ndarray, "i4[:]"]
"""In `INDEX`: of 4 bytes for Numba, of 8 for NumPy."""

IndexColumns = Annotated[np.ndarray, "i4[:,:]"]
DenseIndices = Annotated[np.ndarray, "i4[::1]"]
DenseIndexColumns = Annotated[np.ndarray, "i4[:,::1]"]
