"""From which frame to which a scene is simulated."""


def frame_range(scene):
    """First and last frame of the simulation: its own range if the scene has one, else what is played."""
    if scene.use_custom_simulation_range:
        return scene.simulation_frame_start, scene.simulation_frame_end
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def last_live_frame(scene):
    """The last frame that is stepped; from there on the shape stays."""
    if scene.use_custom_simulation_range:
        return scene.simulation_frame_end
    return max(scene.frame_end, scene.frame_preview_end) if scene.use_preview_range else scene.frame_end
