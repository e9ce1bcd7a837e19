// SPDX-License-Identifier: GPL-3.0-or-later
// A job type for Flamenco: bakes a file once for each combination of some settings, renders a frame of each, and tiles
// these pictures to a contact sheet. Copy it into the folder `scripts` beside flamenco-manager, and refresh job types.

const JOB_TYPE = {
    label: "PBD Cloth: Wedges",
    description: "Bakes each combination of settings, and renders one frame of each to a contact sheet",
    settings: [
        { key: "wedges", type: "string", required: true, default: "Flag.pbd.stretch=100|1000",
          description: "Settings and their values: Flag.pbd.stretch=100|1000; Scene.pbd.substeps=10|20" },
        { key: "frames", type: "string", required: true, eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
          description: "Frames to bake, first-last" },
        { key: "sheet_frame", type: "int32", required: true, eval: "C.scene.frame_end",
          description: "Frame on the contact sheet" },
        { key: "mode", type: "string", required: true, choices: ["absolute", "relative", "reduced"], default: "absolute",
          description: "How bakes are kept" },
        { key: "output_root", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder of the baked files and the contact sheet" },
        { key: "blendfile", type: "string", required: true, visible: "web", description: "File to bake" },
    ],
};

function combinations(text) {
    let found = [[]];
    text.split(";").forEach(function (part) {
        const at = part.indexOf("=");
        if (at < 1) {
            throw "'" + part.trim() + "' is no setting: write OBJECT.pbd.name=value|value";
        }
        const name = part.slice(0, at).trim();
        const longer = [];
        found.forEach(function (before) {
            part.slice(at + 1).split("|").forEach(function (value) {
                longer.push(before.concat([name + "=" + value.trim()]));
            });
        });
        found = longer;
    });
    return found;
}

function padded(number) {
    return ("000" + number).slice(-4);
}

function compileJob(job) {
    const settings = job.settings;
    const range = /^\s*(-?\d+)\s*-\s*(-?\d+)\s*$/.exec(settings.frames);
    if (range === null) {
        throw "'" + settings.frames + "' are no frames: write first-last";
    }
    const wedges = combinations(settings.wedges);
    const stem = path.stem(settings.blendfile);
    const sheet = author.Task("contact sheet", "ffmpeg");
    const pictures = [];
    wedges.forEach(function (assignments, index) {
        const number = padded(index + 1);
        const baked = path.join(settings.output_root, stem + "_" + number + ".blend");
        let args = ["--frames", range[1], range[2], "--mode", settings.mode, "--output", baked];
        assignments.forEach(function (one) {
            args = args.concat(["--set", one]);
        });
        const bake = author.Task("bake " + number + ": " + assignments.join(", "), "blender");
        bake.addCommand(author.Command("blender-render", {
            exe: "{blender}", exeArgs: "{blenderArgs}", argsBefore: ["--command", "pbd_bake"],
            blendfile: settings.blendfile, args: args,
        }));
        job.addTask(bake);
        const render = author.Task("render " + number, "blender");
        const picture = path.join(settings.output_root, "wedge_" + number + "_####");
        render.addCommand(author.Command("blender-render", {
            exe: "{blender}", exeArgs: "{blenderArgs}", argsBefore: [], blendfile: baked,
            args: ["--render-output", picture, "--render-format", "PNG", "--render-frame", "" + settings.sheet_frame],
        }));
        render.addDependency(bake);
        job.addTask(render);
        sheet.addDependency(render);
        pictures.push(picture);
    });
    const columns = Math.ceil(Math.sqrt(wedges.length));
    const rows = Math.ceil(wedges.length / columns);
    sheet.addCommand(author.Command("exec", {
        exe: "ffmpeg",
        args: ["-y", "-start_number", "1",
               "-i", path.join(settings.output_root, "wedge_%04d_" + padded(settings.sheet_frame) + ".png"),
               "-vf", "tile=" + columns + "x" + rows, "-frames:v", "1",
               path.join(settings.output_root, stem + "_wedges.png")],
    }));
    job.addTask(sheet);
}
