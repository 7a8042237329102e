#include "apps/measure/measure_variants.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "detectors/families.hpp"
#include "family/counterpart.hpp"
#include "opencl/opened_device.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using pipeline::Experiment;
using pipeline::ExperimentPicture;
using pipeline::Implementation;

// Implementations that every family has; those of a device are as many as its kernels have variants.
constexpr const char* kSerial = "serial";
constexpr const char* kSimd = "simd";
constexpr const char* kCpu = "cpu";
constexpr const char* kOpenCl = "opencl";  // where kernels have no variants
constexpr const char* kHybrid = "hybrid";

constexpr std::size_t kMostPictures = 1000;

// What a family's device kernels can be compared in; null where that is nothing.
const VariantAxis* kernel_axis(const FamilyInfo& family) {
  const auto found = std::ranges::find(family.variant_axes, true, &VariantAxis::only_kernels);
  return found == family.variant_axes.end() ? nullptr : &*found;
}

std::vector<std::string> kernels_of(const FamilyInfo& family) {
  const VariantAxis* const axis = kernel_axis(family);
  return axis ? axis->values : std::vector<std::string>{kOpenCl};
}

std::vector<std::string> variant_names(const FamilyInfo& family) {
  std::vector<std::string> names;
  if (family.counterpart) names.emplace_back(family.counterpart);
  names.insert(names.end(), {kSerial, kSimd, kCpu});
  for (std::string& kernels : kernels_of(family)) names.push_back(std::move(kernels));
  names.emplace_back(kHybrid);
  return names;
}

// --- pictures -------------------------------------------------------------------------------------------

// Full HD is about two million pixels.
std::string size_group(Size size) {
  const double pixels = 1e-6 * size.width * size.height;
  return pixels < 0.5   ? "small (below 0.5 million pixels)"
         : pixels < 1.5 ? "middle (0.5 to 1.5 million pixels)"
                        : "large (1.5 million pixels and more)";
}

void read_into(std::vector<ExperimentPicture>& pictures, const std::string& input, const std::string& group,
               const VariantsRequest& request) {
  media::Reader reader(input, request.reading);
  for (int count = 0; request.most_pictures == 0 || count < request.most_pictures; ++count) {
    const auto frame = reader.read();
    if (!frame) return;
    if (pictures.size() == kMostPictures) {
      throw Error(ExitCode::usage, fmt::format("there are more than {} pictures", kMostPictures),
                  "name fewer, or limit the pictures of each folder with --preload");
    }
    pictures.push_back({frame->name().empty() ? fmt::format("frame {}", frame->number()) : frame->name(),
                        group.empty() ? size_group(frame->size()) : group, to_gray(*frame)});
  }
}

// Of a folder that has pictures in sub-folders, each of these is a group; else pictures are grouped by size.
std::vector<ExperimentPicture> read_pictures(const VariantsRequest& request) {
  std::set<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator entry(request.input, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) folders.insert(entry->path().filename().string());
  }
  std::vector<ExperimentPicture> pictures;
  for (const std::string& folder : folders) {
    try {
      read_into(pictures, (fs::path(request.input) / folder).string(), folder, request);
    } catch (const Error& e) {
      if (e.code() != ExitCode::input) throw;
      spdlog::warn("{}: skipped", e.what());
    }
  }
  if (pictures.empty()) {
    read_into(pictures, request.input, "", request);
    std::ranges::stable_sort(pictures, {}, [](const ExperimentPicture& one) {
      return -std::int64_t{one.pixels.width()} * one.pixels.height();
    });
    std::ranges::stable_sort(pictures, {}, &ExperimentPicture::group);
  }
  if (pictures.empty()) throw Error(ExitCode::input, "'" + request.input + "' has no picture");
  return pictures;
}

// --- implementations ------------------------------------------------------------------------------------

pipeline::Search search_with(const std::shared_ptr<Counterpart>& other) {
  return {[other](GrayView picture) {
    FrameResult result;
    for (const Box& box : other->find(picture)) result.objects.push_back({box});
    return result;
  }};
}

// A detector with its stages on a device, where it has any. The stages go first.
struct Runner {
  std::shared_ptr<const Detector> detector;
  std::shared_ptr<const DeviceStages> stages;
};

std::string threads_text(int threads) {
  return threads == 1 ? "one thread" : fmt::format("{} threads", threads);
}

class Builder {
 public:
  Builder(const DetectorOptions& options, const std::vector<std::string>& names)
      : options_(options),
        config_(options.config()),
        family_(family_of(config_)),
        engine_(options.make()),
        threads_(engine_.threads > 0 ? engine_.threads : hardware_threads()) {
    if (engine_.device_stages.size() > 1)
      throw Error(ExitCode::usage, "--variants takes one device", "name one with --device");
    const std::vector<std::string> all = variant_names(family_.info());
    const bool every = names == std::vector<std::string>{"all"};
    for (const std::string& name : every ? all : names) {
      if (std::ranges::find(all, name) == all.end()) {
        throw Error(ExitCode::usage,
                    fmt::format("{} have no implementation '{}'", family_.info().title, name),
                    fmt::format("use all, or some of {}", fmt::join(all, ", ")));
      }
      wanted_.insert(name);
    }
  }

  void build() {
    add_counterpart();
    if (wanted_.contains(kSerial)) add_serial();
    const std::shared_ptr<const Detector> detector = family_.make(config_);
    // Of one thread, both are the same.
    if (wanted_.contains(kSimd) && (threads_ > 1 || !wanted_.contains(kCpu))) add_cpu(kSimd, detector, 1);
    if (wanted_.contains(kCpu)) add_cpu(kCpu, detector, threads_);
    add_device(detector);
    if (implementations.empty()) {
      throw Error(ExitCode::device,
                  fmt::format("there is nothing to measure: {}", fmt::join(left_out, "; ")));
    }
  }

  std::vector<Implementation> implementations;
  std::vector<std::string> left_out;
  const DetectorEngine& engine() const { return engine_; }

 private:
  void add_counterpart() {
    const char* const name = family_.info().counterpart;
    if (!name || !wanted_.contains(name)) return;
    try {
      const std::shared_ptr<Counterpart> other = family_.make_counterpart(config_, threads_);
      implementations.push_back({name, "", fmt::format("{}, {}", other->name(), threads_text(threads_)),
                                 false, [other] { return search_with(other); }});
    } catch (const Error& e) {
      if (e.code() != ExitCode::device) throw;
      left_out.push_back(fmt::format("{}: {}", name, e.what()));
    }
  }

  void add_serial() {
    const std::shared_ptr<const Detector> detector = family_.make_reference(config_);
    if (!detector) {
      left_out.push_back(fmt::format("{}: {} have none", kSerial, family_.info().title));
      return;
    }
    add(kSerial, "", "CPU, plain code, one thread", {detector, nullptr},
        pipeline::named_schedule("cpu", *detector, nullptr, 1), 1);
  }

  void add_cpu(const char* name, const std::shared_ptr<const Detector>& detector, int threads) {
    add(name, "", fmt::format("CPU, {}, {}", instruction_set(), threads_text(threads)), {detector, nullptr},
        pipeline::named_schedule("cpu", *detector, nullptr, threads), threads);
  }

  void add(const std::string& name, const std::string& buffers, const std::string& runs_on,
           const Runner& runner, const pipeline::Schedule& schedule, int threads) {
    implementations.push_back({name, buffers, runs_on, true, [runner, schedule, threads] {
                                 return pipeline::search_by(*runner.detector, runner.stages.get(), schedule,
                                                            threads);
                               }});
  }

  bool wants_device() const {
    const std::vector<std::string> kernels = kernels_of(family_.info());
    return wanted_.contains(kHybrid) ||
           std::ranges::any_of(kernels, [&](const std::string& name) { return wanted_.contains(name); });
  }

  void add_device(const std::shared_ptr<const Detector>& detector) {
    if (!wants_device()) return;
    if (engine_.device_stages.empty()) {
      left_out.emplace_back(
          "kernels: no OpenCL device is in use (`sightline devices` lists them; --device cpu uses a CPU's "
          "OpenCL driver)");
      return;
    }
    const opencl::ChosenDevice chosen = pipeline::choose_devices(engine_.schedule).front();
    std::map<opencl::BufferUse, std::shared_ptr<opencl::OpenedDevice>> opened;
    if (chosen.buffers == opencl::BufferUse::automatic) {
      for (const auto use : {opencl::BufferUse::copied, opencl::BufferUse::mapped}) open(chosen, use, opened);
    } else {
      open(chosen, chosen.buffers, opened);
    }
    for (const std::string& kernels : kernels_of(family_.info())) {
      if (!wanted_.contains(kernels)) continue;
      DetectorOptions options = options_;
      if (const VariantAxis* const axis = kernel_axis(family_.info()))
        options.set({axis->parameter, axis->option, {}, kernels});
      const std::shared_ptr<const Detector> variant = family_.make(options.config());
      for (const auto& [use, device] : opened) add_stages(kernels, "gpu", 0, variant, use, device);
    }
    if (!wanted_.contains(kHybrid)) return;
    add_hybrids(detector, chosen.maps_buffers() ? opencl::BufferUse::mapped : opencl::BufferUse::copied,
                opened);
  }

  static void open(const opencl::ChosenDevice& chosen, opencl::BufferUse use,
                   std::map<opencl::BufferUse, std::shared_ptr<opencl::OpenedDevice>>& opened) {
    opencl::ChosenDevice one = chosen;
    one.buffers = use;
    opened[use] = std::make_shared<opencl::OpenedDevice>(one);
  }

  // The first stages on the device and the rest on the CPU, with all that can be tuned between them.
  void add_hybrids(const std::shared_ptr<const Detector>& detector, opencl::BufferUse use,
                   const std::map<opencl::BufferUse, std::shared_ptr<opencl::OpenedDevice>>& opened) {
    const Tunable* const tunable = detector->tunable();
    for (const int choice : tunable ? tunable->choices : std::vector<int>{0}) {
      add_stages(tunable ? fmt::format("{} {}={}", kHybrid, tunable->name, choice) : kHybrid, "specialized",
                 choice, detector, use, opened.at(use));
    }
  }

  void add_stages(const std::string& name, const char* schedule_name, int tuned,
                  const std::shared_ptr<const Detector>& detector, opencl::BufferUse use,
                  const std::shared_ptr<opencl::OpenedDevice>& device) {
    const std::string buffers = use == opencl::BufferUse::mapped ? "mapped" : "copied";
    try {
      const Runner runner{detector, detector->make_stages_on(device)};
      if (!runner.stages) {
        left_out.push_back(fmt::format("{}: {} have no kernels", name, family_.info().title));
        return;
      }
      pipeline::Schedule schedule =
          pipeline::named_schedule(schedule_name, *detector, runner.stages.get(), threads_);
      schedule.tuned = tuned;
      add(name, buffers, fmt::format("{}, driver {}", device->name(), device->info().driver_version), runner,
          schedule, threads_);
    } catch (const std::exception& e) {  // a variant that this device does not take
      left_out.push_back(fmt::format("{}, {}: {}", name, buffers, e.what()));
    }
  }

  const DetectorOptions& options_;
  Config config_;
  const Family& family_;
  DetectorEngine engine_;
  int threads_;
  std::set<std::string> wanted_;
};

}  // namespace

std::vector<std::string> implementation_names() {
  std::vector<std::string> names{"all"};
  for (const Family* family : families()) {
    for (std::string& name : variant_names(family->info())) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

Experiment measure_variants(const DetectorOptions& detector, const VariantsRequest& request) {
  Builder builder(detector, request.names);
  const std::vector<ExperimentPicture> pictures = read_pictures(request);
  builder.build();
  for (const std::string& what : builder.left_out) spdlog::warn("skipped: {}", what);
  Experiment experiment =
      pipeline::run_experiment(std::move(builder.implementations), pictures, request.options);
  experiment.input = request.input;
  experiment.model = builder.engine().detector().info().model;
  experiment.program = program_text();
  experiment.machine = machine_text(builder.engine());
  experiment.left_out = std::move(builder.left_out);
  return experiment;
}

std::string program_text() {
  const BuildInfo build = build_info();
  return fmt::format("sightline {} ({} build), {}", build.version, build.build_type, instruction_set());
}

std::string machine_text(const DetectorEngine& engine) {
  std::string text =
      fmt::format("{}, {} of {} threads", cpu_name(),
                  engine.threads > 0 ? engine.threads : hardware_threads(), hardware_threads());
  for (const auto& stages : engine.device_stages) {
    const DeviceInfo& device = stages->device().info();
    text += fmt::format("; {}, driver {}", device.name, device.driver_version);
  }
  return text;
}

}  // namespace sightline::apps
