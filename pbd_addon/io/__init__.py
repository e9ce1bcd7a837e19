"""File formats for frames, and key reduction; nothing here depends on the physics."""
