// The cascade detector on an OpenCL device, form by form: milliseconds of each stage and of a frame, and how
// many windows each stage of the cascade leaves. Needs neither OpenCV nor any other file than the cascade's.
//
//   bench_cascade_opencl [--device DEVICE] [--cascade NAME|FILE] [--input PICTURE|VIDEO] [--size WxH]
// XX//
// Stages are timed by the device's clock, alone on the device: the median of N frames. `frame` is from
// handing a frame over until its candidates are there, by the host's clock. The default frame is a synthetic
// one, whose windows are not those of photographs: give a picture for figures that count. --sweep varies the
// best form's measures. --scan-stages: once for each K, stages of the cascade that `scan` runs (0:
// all); `finish` runs the rest.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "detectors/cascade/opencl/stages.hpp"
#include "detectors/cascade/survivors.hpp"
#include "scaled_frame.hpp"

namespace sightline::cascade {
namespace {

struct Arguments {
  std::string device = "auto";
  std::string cascade = "haarcascade_frontalface_alt2";
  std::string input;
  Size size{1920, 1080};
  double scale_step = 1.1;
  int frames = 30;
  std::vector<int> early_stages{0};
  bool sweep = false;
};

std::vector<int> whole_numbers(const char* text) {
  std::vector<int> numbers;
  for (char* end = nullptr;; text = end + 1) {
    numbers.push_back(static_cast<int>(std::strtol(text, &end, 10)));
    if (end == text || numbers.back() < 0 || (*end != ',' && *end != '\0'))
      throw Error(ExitCode::usage, std::string("'") + text + "' is not understood");
    if (*end == '\0') return numbers;
  }
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--sweep") {
      a.sweep = true;
      continue;
    }
    if (i + 1 == argc) throw Error(ExitCode::usage, "'" + name + "' needs a value");
    const char* const value = argv[++i];
    if (name == "--device") {
      a.device = value;
    } else if (name == "--cascade") {
      a.cascade = value;
    } else if (name == "--input") {
      a.input = value;
    } else if (name == "--scale-step") {
      a.scale_step = std::atof(value);
    } else if (name == "--frames") {
      a.frames = std::max(std::atoi(value), 1);
    } else if (name == "--scan-stages") {
      a.early_stages = whole_numbers(value);
    } else if (name != "--size" || std::sscanf(value, "%dx%d", &a.size.width, &a.size.height) != 2) {
      throw Error(ExitCode::usage, "'" + name + "' is not understood");
    }
  }
  return a;
}

// Blots of all sizes: windows that get some way through a cascade.
Image<std::uint8_t> synthetic(Size size) {
  Image<std::uint8_t> image(size.width, size.height);
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) image.view().at(x, y) = static_cast<std::uint8_t>(100 + below(24));
  for (int blot = 0; blot < 4000; ++blot) {
    const int radius = 2 + below(below(10) == 0 ? 60 : 12);
    const int cx = below(size.width), cy = below(size.height), value = below(256);
    for (int y = std::max(cy - radius, 0); y < std::min(cy + radius, size.height); ++y) {
      for (int x = std::max(cx - radius, 0); x < std::min(cx + radius, size.width); ++x) {
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius)
          image.view().at(x, y) = static_cast<std::uint8_t>((image.view().at(x, y) + 3 * value) / 4);
      }
    }
  }
  return image;
}

Image<std::uint8_t> load_frame(const Arguments& a) {
  if (a.input.empty()) return synthetic(a.size);
  media::Reader reader(a.input);
  const auto read = reader.read();
  if (!read) throw Error(ExitCode::input, "'" + a.input + "' has no picture");
  return benchmarks::scaled_frame(*read, a.size);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Form {
  std::string name;
  KernelTuning tuning;
};

std::vector<Form> forms(const opencl::DeviceInfo& device, FeatureKind kind, bool sweep) {
  const KernelTuning best = tuning_table(kind).defaults(device);
  std::vector<Form> all;
  for (const char* form : kKernelVariants) {
    if (kind == FeatureKind::haar || std::string_view(form) != "unrolled")
      all.push_back({form, variant_tuning(form, device, kind)});
  }
  for (const int rows : {8, 16, 32, 64}) {
    for (const int group : {64, 128, 256, 512}) {
      for (const int stages : best.unrolled > 0 ? std::vector{4, 6, 7, 8} : std::vector{1, 2, 3}) {
        if (!sweep) continue;
        KernelTuning t = best;
        t.tile_rows = rows;
        t.group = group;
        (best.unrolled > 0 ? t.unrolled : t.first_stages) = stages;
        all.push_back({"rows " + std::to_string(rows) + ", items " + std::to_string(group) +
                           (best.unrolled > 0 ? ", unrolled " : ", first ") + std::to_string(stages),
                       t});
      }
    }
  }
  return all;
}

// The candidates of a form's last frame, so that forms can be compared.
std::vector<Candidate> time_form(const CascadeDetector& detector, GrayView frame,
                                 const opencl::Context& context, const Form& form, int frames) {
  using Clock = std::chrono::steady_clock;
  opencl::ProgramCache cache(opencl::ProgramCache::default_folder());
  const OpenClStages stages(detector, context, &cache, form.tuning);
  OpenClSlot slot(stages);
  const auto workspace = detector.make_workspace();
  auto& w = static_cast<CascadeWorkspace&>(*workspace);
  std::map<std::string, std::vector<double>> times;
  opencl::Queue queue(context);
  for (int i = -3; i < frames; ++i) {  // the first ones warm up
    detector.prepare(w, frame);
    stages.prepare(slot, w, stages.supported());
    const auto start = Clock::now();
    stages.submit(slot, w, kPyramid, kGroup);
    queue.wait(slot.done);
    stages.complete(slot, w);
    const auto end = Clock::now();
    if (i < 0) continue;
    for (const DeviceSpan& span : slot.spans)
      times[std::string(span.name)].push_back(1e3 * span.seconds(context.name()));
    times["frame"].push_back(std::chrono::duration<double, std::milli>(end - start).count());
  }
  std::printf("%-28s", form.name.c_str());
  for (const char* name : {"upload", "pyramid", "integral", "scan", "finish", "download", "frame"})
    std::printf(" %9.3f", median(times[name]));
  const KernelTuning& t = stages.tuning();
  std::printf("  %d rows, %d items%s%s%s\n", t.tile_rows, t.group, t.tiled ? ", tiled" : "",
              t.packed ? ", packed" : "",
              t.unrolled > 0 ? (", unrolled " + std::to_string(t.unrolled)).c_str() : "");
  std::fflush(stdout);
  return w.candidates;
}

void print_survivors(const CascadeDetector& detector, GrayView frame) {
  StageSurvivors survivors;
  count_survivors(detector, frame, survivors);
  std::printf("\nWindows left after each stage (trees):\n  all %lld\n",
              static_cast<long long>(survivors.windows));
  for (std::size_t k = 0; k < survivors.passed.size(); ++k) {
    std::printf("  %3zu (%d) %lld\n", k + 1, detector.model().stages[k].trees,
                static_cast<long long>(survivors.passed[k]));
  }
}

int run(const Arguments& a) {
  const auto chosen = opencl::choose_device(opencl::parse_device_choice(a.device), opencl::list_devices());
  if (!chosen) throw Error(ExitCode::device, "there is no such device", "give --device cpu, gpu or an index");
  const opencl::Context context(*chosen);
  const Model model = load_model(find_model(a.cascade, a.cascade));
  Options options;
  options.search.scale_step = a.scale_step;
  Image<std::uint8_t> frame = load_frame(a);
  std::printf("%s, %s, %dx%d, scale step %.3g, %d frames; milliseconds\n", context.name().c_str(),
              model.name.c_str(), a.size.width, a.size.height, a.scale_step, a.frames);
  bool same = true;
  std::vector<Candidate> first;
  for (const int early_stages : a.early_stages) {
    options.early_stages = early_stages;
    const CascadeDetector detector(model, options);
    std::printf("\n%-28s %9s %9s %9s %9s %9s %9s %9s\n",
                ("scan: " + std::to_string(detector.early_stages()) + " stages").c_str(), "upload", "pyramid",
                "integral", "scan", "finish", "download", "frame");
    for (const Form& form : forms(context.device(), model.kind, a.sweep)) {
      const std::vector<Candidate> found = time_form(detector, frame.view(), context, form, a.frames);
      if (first.empty()) first = found;
      same = same && found == first;
    }
  }
  std::printf("\n%zu windows pass all stages%s\n", first.size(),
              same ? ", the same with every form" : "; NOT THE SAME with every form");
  print_survivors(CascadeDetector(model, options), frame.view());
  return same ? 0 : 1;
}

}  // namespace
}  // namespace sightline::cascade

int main(int argc, char** argv) {
  try {
    return sightline::cascade::run(sightline::cascade::parse(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_cascade_opencl: %s\n", e.what());
    return 1;
  }
}
