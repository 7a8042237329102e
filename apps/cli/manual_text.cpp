#include "apps/cli/manual_text.hpp"

#include <map>

#include "detectors/families.hpp"

namespace sightline::apps {

std::vector<ManualExample> manual_examples(const std::string& name) {
  static const std::map<std::string, std::vector<ManualExample>> examples{
      {"sightline",
       {{"sightline detect street.mp4 --output boxed.mp4 --detections people.jsonl",
         "Finds the people in a video; writes the video with boxes, and the boxes as JSON lines"},
        {"sightline live", "Shows the picture of the first camera, with the people in it"},
        {"sightline devices --probe", "Shows the OpenCL devices and measures them"}}},
      {"sightline detect",
       {{"sightline detect street.mp4", "Writes detections to standard output, one JSON object per frame"},
        {"sightline detect photos/ --config faces --output boxed/",
         "Draws the faces into copies of pictures"},
        {"sightline detect street.mp4 --min-size 60 --threshold -0.4 --output boxed.mp4",
         "Finds smaller people, and more of them, with more false boxes"},
        {"sightline detect a.mp4 b.mp4 --together --track --output boxed/",
         "Searches two videos at the same time, and follows each person over frames"},
        {"sightline detect street.mp4 --track --zones door.toml --crops people/",
         "Counts people who pass the door, and writes the best picture of each"},
        {"sightline detect street.mp4 --expect golden.jsonl",
         "Checks that the results equal stored ones; the exit code is 6 if they do not"},
        {"sightline detect street.mp4 --device gpu --schedule overlap --explain",
         "Uses a GPU and the CPU on several frames at the same time"}}},
      {"sightline diff",
       {{"sightline diff golden.jsonl people.jsonl", "Names the first difference between two files of results"}}},
      {"sightline live",
       {{"sightline live /dev/video2 --size 1280x720 --fps 30 --pixel-format mjpeg",
         "Uses this camera with this format"},
        {"sightline live rtsp://camera/stream --track --record cam-%Y%m%d-%H%M%S.mp4 --rotate 10m --keep 144",
         "Records the last day of a network camera, with boxes, in pieces of ten minutes"},
        {"sightline live screen: --headless --detections people.jsonl",
         "Searches the screen, without a window"}}},
      {"sightline measure",
       {{"sightline measure street.mp4 --preload 16 --report report.html", "Compares all schedules"}}},
      {"sightline evaluate compare",
       {{"sightline evaluate compare a.csv b.csv --svg both.svg",
         "Plots the curves that earlier evaluations wrote with --csv"}}},
      {"sightline evaluate frames",
       {{"sightline evaluate frames street.mp4 --truth marked.txt --min-size 60 --svg curve.svg",
         "Plots the miss rate against false positives per frame"},
        {"sightline evaluate frames val2017/ --truth instances_val2017.json --model yolox_nano.onnx --coco "
         "ap.csv",
         "Writes COCO's average precision and recall of each class"}}},
      {"sightline evaluate windows",
       {{"sightline evaluate windows --positives crops/ --negatives scenes/ --csv curve.csv",
         "Writes the miss rate against false positives per window"}}},
      {"sightline config copy",
       {{"sightline config copy people mine.toml", "Writes a configuration that `--config mine.toml` runs"}}},
      {"sightline model show",
       {{"sightline model show mine.safetensors", "Describes a model, and draws its filters"}}},
      {"sightline faces add",
       {{"sightline faces add --name Ada", "Takes pictures from the first camera for ten seconds"},
        {"sightline faces add --name Grace grace.jpg holiday.mp4 album/grace/",
         "Takes a picture, the best frames of a video, and a folder of pictures"}}},
      {"sightline faces delete",
       {{"sightline faces delete Ada", "Deletes and overwrites all data of a person"},
        {"sightline faces delete Ada --picture 3", "Deletes one picture of a person"}}},
      {"sightline texture",
       {{"sightline texture slide.tif --output histogram.json --labels codes.tif",
         "Writes the histogram of a picture of any size, and a picture of its codes"},
        {"sightline texture slide.tif --operator grid --operator 16,2 --mapping riu2 --output plot.svg",
         "Draws the histograms of two operators"},
        {"sightline texture slide.tif --cells 64 --cells-output cells.npy",
         "Writes a histogram for each cell of 64x64 pixels"}}},
      {"sightline texture compare",
       {{"sightline texture compare a.jpg b.jpg c.jpg", "Prints the distance of each pair"}}},
      {"sightline texture nearest",
       {{"sightline texture nearest unknown.jpg --known samples/",
         "Names the most similar textures; folders in samples/ give their names to the pictures in them"}}},
      {"sightline texture classify",
       {{"sightline texture classify slide.tif --known samples/ --cells 64 --output map.png",
         "Draws a map of the classes of a slide; folders in samples/ name the classes"}}},
      {"sightline evaluate classes",
       {{"sightline evaluate classes validation/ --model resnet50.onnx --labels names.txt --top 5",
         "Measures top-1 and top-5 accuracy; folders in validation/ name the classes"}}},
      {"sightline evaluate texture",
       {{"sightline evaluate texture textures/ --tiles 128",
         "Counts how often a tile is nearest to another tile of its own picture"}}},
      {"sightline batch plan",
       {{"sightline batch plan videos/ --config people --track --job /shared/job",
         "Divides all videos of a folder into tasks"}}},
      {"sightline batch plan texture",
       {{"sightline batch plan texture slides/ --operator 16,2 --mapping riu2 --job /shared/job",
         "Divides slides into rows of tiles"}}},
      {"sightline batch submit",
       {{"sightline batch submit /shared/job --workers 50 --output people.jsonl",
         "Submits an array to Slurm, and a merge behind it"},
        {"sightline batch submit /shared/job --engine local --workers 8",
         "Runs the tasks on this machine, eight at a time"},
        {"sightline batch submit /shared/job --engine print --script kubernetes",
         "Writes a Kubernetes Job"}}},
      {"sightline batch work",
       {{"sightline batch work /shared/job --task 7 --device gpu", "Computes a task on a GPU"}}},
      {"sightline batch merge",
       {{"sightline batch merge /shared/job --output people.jsonl",
         "Writes the file that one machine would write"}}},
      {"sightline devices",
       {{"sightline devices --characterise --report gpu.html",
         "Benchmarks the CPU and all devices, and plots the results"},
        {"sightline devices --decoders", "Tests the hardware video decoders"}}},
      {"sightline tune",
       {{"sightline tune street.mp4 --device gpu", "Tunes for frames of this video's size"}}},
  };
  const auto found = examples.find(name);
  std::vector<ManualExample> all;
  if (found != examples.end()) all = found->second;
  for (const Family* family : families()) {
    for (const CommandExample& example : family->info().examples) {
      if (example.page == name) all.push_back({example.command, example.meaning});
    }
  }
  return all;
}

std::vector<std::string> manual_paragraphs(const std::string& name) {
  static const std::map<std::string, std::vector<std::string>> paragraphs{
      {"sightline",
       {"A detector is a chain of stages (pyramid, filter bank, cell histogram, classifier, verification "
        "network, grouping). Each stage can run on the CPU or on an OpenCL device. A schedule maps stages to "
        "processors and sets how many frames are in flight. The same frame gives the same boxes and scores "
        "under every schedule and on every processor.",
        "Each command has a page: `man sightline-detect`, or `man sightline detect`."}},
      {"sightline detect",
       {"Without an output option, detections go to standard output, one JSON object per frame. Messages go "
        "to standard error. Ctrl-C ends the run after the frames in flight, and leaves complete files."}},
      {"sightline texture",
       {"Pictures are processed in tiles, in bounded memory. Results do not depend on the tiles or on the "
        "processors. A part of a picture that cannot be read counts as black and is listed in the results; "
        "the exit code is then 1. With --strict, the run ends at once with 3. Ctrl-C leaves no file "
        "behind."}},
      {"sightline batch",
       {"A job is a folder that all machines see. `sightline batch plan` divides inputs into tasks. Slurm, "
        "Kubernetes, GNU parallel or `sightline batch submit --engine local` run `sightline batch work` for "
        "each. `sightline batch merge` writes the file that one machine would write, byte for byte, however "
        "often tasks were killed or run twice."}},
      {"sightline live",
       {"The window shows the present: capture never waits, and the detector takes the newest frame. Press "
        "`h` in the window for its keys."}},
  };
  const auto found = paragraphs.find(name);
  return found == paragraphs.end() ? std::vector<std::string>() : found->second;
}

std::vector<ManualSection> manual_sections() {
  return {
      {"EXIT STATUS",
       {{"0", "Done"},
        {"1", "Failed while running"},
        {"2", "Wrong usage"},
        {"3", "The input cannot be used"},
        {"4", "The model cannot be used"},
        {"5", "A requested device is not there"},
        {"130, 143", "Stopped by SIGINT or SIGTERM"}},
       true},
      {"ENVIRONMENT",
       {{"SIGHTLINE_CONFIGS", "Folder that is searched first for configurations"},
        {"XDG_CACHE_HOME", "Folder of the cache (default: `~/.cache`)"},
        {"XDG_DATA_HOME", "Folder of the gallery of people and of networks (default: `~/.local/share`)"},
        {"SIGHTLINE_NETWORKS_URL",
         "Folder on a web server that `sightline network get` reads `NAME.onnx` from instead of the "
         "publisher's address"},
        {"https_proxy", "Proxy for downloads and network inputs"},
        {"OCL_ICD_VENDORS", "OpenCL drivers: a folder of .icd files, or a driver's library"}}},
      {"FILES",
       {{"../share/sightline/configs/",
         "Shipped configurations and models, relative to the program's folder"},
        {"~/.local/share/sightline/faces.gallery",
         "People to recognise: names, pictures of faces and their templates. Only the owner can read it"},
        {"~/.local/share/sightline/networks/", "Networks that `sightline network get` downloaded"},
        {"~/.cache/sightline/",
         "Compiled kernels, tuned variants, planned schedules, tested drivers; lost files are made again"}}},
  };
}

}  // namespace sightline::apps
