#include "apps/texture/texture_experiment.hpp"

#include <fmt/format.h>

#include <oneapi/tbb/task_arena.h>
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/json_text.hpp"
#include "base/parallel.hpp"
#include "device/frame_image.hpp"
#include "opencl/program_cache.hpp"
#include "pipeline/session/now.hpp"
#include "processing/frame_runner.hpp"
#include "processing/opencl/kernel_variant.hpp"
#include "texture/counting.hpp"
#include "texture/opencl/stages.hpp"
#include "texture/reference.hpp"

namespace sightline::apps {
namespace {

using namespace texture;
using Json = nlohmann::ordered_json;
using pipeline::Implementation;
using pipeline::PictureResult;
using pipeline::PictureTimes;
using pipeline::Search;

constexpr const char* kKernels = "kernels";  // parts of a search
constexpr const char* kUpload = "upload";
constexpr const char* kDownload = "download";
constexpr const char* kReading = "reading";
constexpr const char* kOrdinary = "ordinary";
constexpr const char* kNewBuffers = "new buffers";
constexpr const char* kOneThread = "SIMD, one thread";  // names of implementations
constexpr const char* kThreads = "SIMD, all threads";
constexpr const char* kIncrements = "increments";

pipeline::ExperimentPicture repeated(GrayView picture, int size) {
  const std::string side = std::to_string(size);
  pipeline::ExperimentPicture result{side, "side " + side, Image<std::uint8_t>(size, size)};
  for (int y = 0; y < size; ++y) {
    std::uint8_t* const row = result.pixels.view().row(y);
    for (int x = 0; x < size; x += picture.width())
      std::memcpy(row + x, picture.row(y % picture.height()),
                  static_cast<std::size_t>(std::min(picture.width(), size - x)));
  }
  return result;
}

void read_all(GrayView image) {
  parallel_for_isolated(image.height(), [&](int y) {
    const std::uint8_t* const row = image.row(y);
    std::uint64_t sum = 0, word = 0;
    for (int x = 0; x + 8 <= image.width(); x += 8) {
      std::memcpy(&word, row + x, sizeof word);
      sum ^= word;
    }
    volatile std::uint64_t kept = sum;  // so that it is not left out
    static_cast<void>(kept);
  });
}

// Each operator's codes.
std::vector<Image<std::uint8_t>> codes_of(const TextureSettings& settings, GrayView image) {
  std::vector<Image<std::uint8_t>> all;
  for (const LbpOperator& one : settings.operators) {
    const int reach = one.reach(), width = image.width() - 2 * reach;
    Image<std::uint8_t>& codes = all.emplace_back(width, image.height() - 2 * reach);
    for (int y = 0; y < codes.height(); ++y)
      make_codes(one, image, y + reach, reach, reach + width, codes.view().row(y));
  }
  return all;
}

void count_all(GrayView codes) {
  constexpr int kRows = 256;
  parallel_for_isolated((codes.height() + kRows - 1) / kRows, [&](int band) {
    const auto tables = std::make_unique<CodeTables>();
    for (int y = band * kRows; y < std::min((band + 1) * kRows, codes.height()); ++y)
      count_bytes(codes.row(y), codes.width(), *tables);
  });
}

// A device, with what must outlive stages on it.
struct OpenDevice {
  explicit OpenDevice(const opencl::ChosenDevice& chosen)
      : context(chosen), cache(opencl::ProgramCache::default_folder()) {}
  opencl::Context context;
  opencl::ProgramCache cache;
};

// Counts on a device, with the picture where tiles are put: in memory that the device copies from by itself.
class DeviceCounting {
 public:
  DeviceCounting(const TextureProcessor& processor, const OpenDevice& device, const TextureStages& stages)
      : processor_(processor),
        name_(device.context.name()),
        stages_(stages),
        runner_(processor, &stages, stages.supported()),
        placed_(device.context.transfer_memory()) {}

  FrameResult search(GrayView picture) {
    if (picture_.empty() || picture_.row(0) != picture.row(0)) place(picture);
    return runner_.process(std::as_const(placed_.image()).view());
  }

  // Besides, the whole with the picture in any other memory, and with the making of buffers.
  std::vector<std::pair<std::string, double>> parts() {
    std::vector<std::pair<std::string, double>> parts{{kKernels, 0}};
    auto& slot = static_cast<TextureSlot&>(runner_.slot());
    for (const DeviceSpan& span : slot.spans) {
      const double seconds = span.seconds(name_);
      if (span.kind == DeviceSpan::Kind::upload) parts.emplace_back(kUpload, seconds);
      if (span.kind == DeviceSpan::Kind::download) parts.emplace_back(kDownload, seconds);
      if (span.kind == DeviceSpan::Kind::stage) parts[0].second += seconds;
    }
    parts.emplace_back(kReading,
                       stages_.seconds_to_read(slot, static_cast<TextureWorkspace&>(runner_.workspace())));
    const auto add = [&](const char* name, const auto& work) {
      const std::int64_t start = pipeline::now_ns();
      work();
      parts.emplace_back(name, 1e-9 * static_cast<double>(pipeline::now_ns() - start));
    };
    add(kOrdinary, [&] { runner_.process(picture_); });
    add(kNewBuffers, [&] {
      FrameRunner(processor_, &stages_, stages_.supported()).process(std::as_const(placed_.image()).view());
    });
    return parts;
  }

 private:
  void place(GrayView picture) {
    placed_.resize(picture.size());
    for (int y = 0; y < picture.height(); ++y)
      std::memcpy(placed_.image().view().row(y), picture.row(y), static_cast<std::size_t>(picture.width()));
    picture_ = picture;
  }

  const TextureProcessor& processor_;
  const std::string name_;
  const TextureStages& stages_;
  FrameRunner runner_;
  FrameImage placed_;
  GrayView picture_;
};

class FormBuilder {
 public:
  explicit FormBuilder(const TextureExperimentOptions& options)
      : options_(options), processor_(options.settings) {}

  const TextureProcessor& processor() const { return processor_; }

  // Resources of the kernels that a device has run. @param device  its number
  std::vector<opencl::KernelResources> kernels(std::size_t device) const {
    return devices_[device]->context.kernel_resources();
  }

  std::vector<Implementation> on_cpu(int threads) const {
    std::vector<Implementation> list;
    const auto add = [&](const std::string& name, const std::string& where, bool is_result,
                         std::function<FrameResult(GrayView)> run) {
      list.push_back({name, "", where, is_result, [run] { return Search{run}; }});
    };
    const std::string all = fmt::format("CPU, {}, {} threads", instruction_set(), threads);
    add("serial", "CPU, plain code, one thread", true, [this](GrayView picture) {
      const auto output = std::make_shared<TextureOutput>();
      count_by_definition(options_.settings, picture, *output);
      FrameResult result;
      result.output = output;
      return result;
    });
    for (const auto& [name, used] : {std::pair(kOneThread, 1), {kThreads, threads}}) {
      const auto schedule = pipeline::named_schedule("cpu", processor_, nullptr, used);
      list.push_back({name, "", all, true, [this, schedule, used = used] {
                        return pipeline::search_by(processor_, nullptr, schedule, used);
                      }});
    }
    const auto arena = std::make_shared<oneapi::tbb::task_arena>(threads);
    add(kReading, all, false, [arena](GrayView picture) {
      arena->execute([&] { read_all(picture); });
      return FrameResult();
    });
    if (std::ranges::any_of(options_.settings.operators,
                            [](const LbpOperator& one) { return one.points() != 8; }))
      return list;
    const auto codes = std::make_shared<std::pair<const std::uint8_t*, std::vector<Image<std::uint8_t>>>>();
    add(kIncrements, all, false, [this, arena, codes](GrayView picture) {
      if (codes->first != picture.row(0)) *codes = {picture.row(0), codes_of(options_.settings, picture)};
      for (const Image<std::uint8_t>& made : codes->second) arena->execute([&] { count_all(made.view()); });
      return FrameResult();
    });
    return list;
  }

  // Adds the device's forms to two experiments.
  TextureExperiment::Device on_device(const opencl::ChosenDevice& chosen, GrayView largest,
                                      std::vector<Implementation>& by_size,
                                      std::vector<Implementation>& by_group) {
    const auto device = devices_.emplace_back(std::make_shared<OpenDevice>(chosen));
    const opencl::DeviceInfo& info = device->context.device();
    if (options_.tune) tune_for(*device, largest);
    const KernelTuning tuned = best_tuning(info, options_.settings);
    TextureExperiment::Device result{device->context.name(), to_string(tuned), {}, {}, {}};
    for (const KernelTuning& tuning : variants(info)) {
      result.by_size.push_back(add(device, tuning, "", by_size));
      for (const int group : options_.groups) {
        // The groups of serial are single work-items.
        if (tuning.histogram == "serial" || static_cast<std::uint64_t>(group) > info.largest_work_group)
          continue;
        KernelTuning other = tuning;
        other.group = group;  // and as many work-items in all
        other.groups_a_unit = std::max(tuning.groups_a_unit * tuning.group / group, 1);
        result.by_group.push_back(add(device, other, "", by_group));
      }
    }
    result.by_size.push_back(add(device, tuned, "tuned", by_size));
    return result;
  }

 private:
  void tune_for(OpenDevice& device, GrayView picture) const {
    const TuningOutcome outcome = tune(processor_, device.context, &device.cache, picture,
                                       {.report = [&](const opencl::TuningTrial& trial) {
                                         throw_if_stopped();
                                         if (options_.report) options_.report(trial);
                                       }});
    const opencl::TuningDatabase database(opencl::TuningDatabase::default_file());
    database.store(device.context.device(), outcome.problem, outcome.best);
  }

  std::vector<KernelTuning> variants(const opencl::DeviceInfo& device) const {
    std::vector<KernelTuning> list;
    const auto wanted = [&](const std::string& name) {
      return options_.variants.empty() ||
             std::ranges::find(options_.variants, name) != options_.variants.end();
    };
    for (const std::string name : kHistogramVariants) {
      // On a GPU a single work-item a group is no way to do it.
      if (wanted(name) && (name != "serial" || device.type == opencl::DeviceType::cpu))
        list.push_back(variant_tuning(name, device));
    }
    for (const char* name : {"global", "local"}) {
      if (!wanted(name)) continue;
      list.push_back(variant_tuning(name, device));
      list.back().writes_only = true;
    }
    return list;
  }

  TextureExperiment::Form add(const std::shared_ptr<OpenDevice>& device, const KernelTuning& tuning,
                              std::string name, std::vector<Implementation>& list) {
    const auto stages =
        std::make_shared<const TextureStages>(processor_, device->context, &device->cache, tuning);
    if (name.empty()) name = tuning.histogram + (tuning.writes_only ? ", writes only" : "");
    const int group = stages->tuning().group;
    list.push_back({fmt::format("{} {}", name, group), "", device->context.name(), !tuning.writes_only,
                    [this, device, stages] {
                      const auto counting = std::make_shared<DeviceCounting>(processor_, *device, *stages);
                      return Search{[counting](GrayView picture) { return counting->search(picture); },
                                    [counting] { return counting->parts(); }};
                    }});
    return {name, group, list.size() - 1};
  }

  void throw_if_stopped() const {
    if (options_.experiment.stop && options_.experiment.stop->load())
      throw Error(ExitCode::failed, "stopped before all was measured");
  }

  const TextureExperimentOptions& options_;
  TextureProcessor processor_;
  std::vector<std::shared_ptr<OpenDevice>> devices_;
};

double part_of(const PictureTimes& times, const char* name) {
  const auto found = times.parts.find(name);
  return found == times.parts.end() ? 0 : found->second;
}

Json form_json(const PictureResult& picture, const TextureExperiment::Form& form) {
  const PictureTimes& times = picture.times[form.implementation];
  Json json{{"variant", form.variant}, {"group", form.group}, {"size", picture.size.width}};
  for (const auto& [key, part] :
       {std::pair("kernel_ms", kKernels), {"upload_ms", kUpload}, {"download_ms", kDownload}})
    json[key] = 1e3 * part_of(times, part);
  json["host_ms"] = 1e3 * times.fastest();
  json["ordinary_ms"] = 1e3 * part_of(times, kOrdinary);
  json["whole_ms"] = 1e3 * part_of(times, kNewBuffers);
  return json;
}

}  // namespace

TextureExperiment run_texture_experiment(GrayView picture, const TextureExperimentOptions& options,
                                         const std::vector<opencl::ChosenDevice>& devices) {
  for (const std::string& variant : options.variants) check_kernel_variant(variant, kHistogramVariants);
  if (options.sizes.empty()) throw Error(ExitCode::usage, "no size is named", "write --sizes 1024,8336");
  if (picture.empty()) throw Error(ExitCode::input, "the picture has no pixels");
  FormBuilder builder(options);
  std::vector<pipeline::ExperimentPicture> pictures;
  for (const int size : options.sizes) pictures.push_back(repeated(picture, size));
  if (!run_stages(builder.processor(), *builder.processor().make_workspace(),
                  std::as_const(pictures[0].pixels).view()))
    throw Error(ExitCode::usage, "a picture of side " + pictures[0].name + " is all border",
                "give larger --sizes");
  TextureExperiment result;
  result.texture = builder.processor().info().model;
  result.threads = options.threads > 0 ? options.threads : hardware_threads();
  std::vector<Implementation> by_size = builder.on_cpu(result.threads), by_group;
  for (const opencl::ChosenDevice& device : devices)
    result.devices.push_back(
        builder.on_device(device, std::as_const(pictures.back().pixels).view(), by_size, by_group));
  const auto measure = [&](std::vector<Implementation> all) {
    pipeline::Experiment& one =
        result.experiments.emplace_back(run_experiment(std::move(all), pictures, options.experiment));
    one.baseline = 0;
    one.model = result.texture;
    if (one.pictures.size() < pictures.size())
      throw Error(ExitCode::failed, "stopped before all was measured");
    if (!one.differences.empty())
      throw Error(ExitCode::failed, one.differences.front(),
                  "this is a defect of a driver or of Sightline: report it");
  };
  measure(std::move(by_size));
  pictures.erase(pictures.begin(), pictures.end() - 1);
  if (!by_group.empty()) measure(std::move(by_group));
  for (std::size_t i = 0; i < result.devices.size(); ++i) result.devices[i].kernels = builder.kernels(i);
  return result;
}

std::string texture_json(const TextureExperiment& measured, const std::string& picture) {
  const std::vector<PictureResult>& pictures = measured.experiments.front().pictures;
  const std::vector<Implementation>& all = measured.experiments.front().implementations;
  Json json{{"texture", measured.texture},
            {"picture", picture},
            {"threads", measured.threads},
            {"cpu", Json::array()}};
  Json sizes = Json::array();
  for (const PictureResult& one : pictures) {
    sizes.push_back(one.size.width);
    Json& times = json["cpu"].emplace_back(Json{{"size", one.size.width}});
    for (const auto& [key, name] : {std::pair("serial_ms", "serial"),
                                    {"one_thread_ms", kOneThread},
                                    {"threads_ms", kThreads},
                                    {"read_ms", kReading},
                                    {"increments_ms", kIncrements}}) {
      const auto found = std::ranges::find(all, name, &Implementation::name);
      times[key] =
          found == all.end() ? 0 : 1e3 * one.times[static_cast<std::size_t>(found - all.begin())].fastest();
    }
  }
  json["devices"] = Json::array();
  for (const TextureExperiment::Device& device : measured.devices) {
    Json read = Json::array(), by_size = Json::array(), by_group = Json::array(), kernels = Json::array();
    for (const PictureResult& one : pictures) {
      double least = part_of(one.times[device.by_size.front().implementation], kReading);
      for (const TextureExperiment::Form& form : device.by_size) {
        least = std::min(least, part_of(one.times[form.implementation], kReading));
        by_size.push_back(form_json(one, form));
      }
      read.push_back(1e3 * least);
    }
    for (const TextureExperiment::Form& form : device.by_group)
      by_group.push_back(form_json(measured.experiments[1].pictures.front(), form));
    for (const opencl::KernelResources& one : device.kernels) kernels.push_back(opencl::as_json(one));
    json["devices"].push_back({{"name", device.name},
                               {"tuned", device.tuned},
                               {"sizes", sizes},
                               {"read_ms", read},
                               {"by_size", by_size},
                               {"by_group", by_group},
                               {"kernels", kernels}});
  }
  return json_text(json, 2) + "\n";
}

}  // namespace sightline::apps
