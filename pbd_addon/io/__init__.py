"""Files and keys that frames are kept in; nothing here knows the physics."""
