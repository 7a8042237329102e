#include "texture/measurement.hpp"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/parallel.hpp"
#include "image/frame_image.hpp"
#include "opencl/program_cache.hpp"
#include "processing/frame_runner.hpp"
#include "processing/opencl/kernel_variant.hpp"
#include "texture/counting.hpp"
#include "texture/opencl/stages.hpp"
#include "texture/reference.hpp"

namespace sightline::texture {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds_of(const auto& work) {
  const Clock::time_point start = Clock::now();
  work();
  return seconds_since(start);
}

// Minimum of the given values; 0 before the first.
class Least {
 public:
  void add(double seconds) { seconds_ = seconds_ == 0 ? seconds : std::min(seconds_, seconds); }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

Image<std::uint8_t> repeated(GrayView picture, int size) {
  Image<std::uint8_t> image(size, size);
  for (int y = 0; y < size; ++y) {
    std::uint8_t* const row = image.view().row(y);
    const std::uint8_t* const from = picture.row(y % picture.height());
    for (int x = 0; x < size; x += picture.width())
      std::memcpy(row + x, from, static_cast<std::size_t>(std::min(picture.width(), size - x)));
  }
  return image;
}

// A copy of a picture where tiles are put that go to a device.
FrameImage sent_to(const opencl::Context& context, GrayView picture) {
  FrameImage sent(context.transfer_memory());
  sent.resize(picture.size());
  for (int y = 0; y < picture.height(); ++y)
    std::memcpy(sent.image().view().row(y), picture.row(y), static_cast<std::size_t>(picture.width()));
  return sent;
}

class Measurer {
 public:
  Measurer(GrayView picture, const MeasurementOptions& options)
      : picture_(picture), options_(options), processor_(options.settings) {
    if (picture.empty()) throw Error(ExitCode::input, "the picture has no pixels");
  }

  CpuTimes cpu(int size, int threads) {
    say("CPU, " + std::to_string(size));
    begin(size);
    const GrayView image = image_.view();
    oneapi::tbb::task_arena one(1), all(threads);
    const auto workspace = processor_.make_workspace();
    const std::vector<Image<std::uint8_t>> codes = codes_of(image);
    Least serial, one_thread, many, read, increments;
    TextureOutput plain;
    serial.add(seconds_of([&] { count_by_definition(options_.settings, image, plain); }));
    const auto run = [&] { run_stages(processor_, *workspace, image); };
    for (int i = 0; i <= options_.runs; ++i) {
      stop_if_asked();
      one_thread.add(seconds_of([&] { one.execute(run); }));
      many.add(seconds_of([&] { all.execute(run); }));
      read.add(seconds_of([&] { all.execute([&] { read_all(image); }); }));
      if (codes.empty()) continue;
      increments.add(seconds_of([&] {
        for (const Image<std::uint8_t>& made : codes) all.execute([&] { count_all(made.view()); });
      }));
    }
    expected_ = FrameResult();
    processor_.take_result(*workspace, expected_);
    if (const std::string text = expected_.output->difference(plain); !text.empty()) differs("SIMD", text);
    return {size,           serial.seconds(), one_thread.seconds(),
            many.seconds(), read.seconds(),   increments.seconds()};
  }

  DeviceMeasurement device(const opencl::ChosenDevice& chosen) {
    const opencl::Context context(chosen);
    opencl::ProgramCache cache(opencl::ProgramCache::default_folder());
    DeviceMeasurement result;
    result.name = context.name();
    if (options_.tune) tune_for(context, cache);
    const KernelTuning tuned = best_tuning(context.device(), options_.settings);
    result.tuned = to_string(tuned);
    for (const int size : options_.sizes) {
      begin(size);
      expect();
      Least read;
      for (const KernelTuning& tuning : variants(context.device()))
        result.by_size.push_back(time(context, cache, tuning, size, &read));
      result.by_size.push_back(time(context, cache, tuned, size, &read));
      result.by_size.back().variant = "tuned";
      result.read.push_back(read.seconds());
    }
    for (const KernelTuning& tuning : variants(context.device())) {
      if (tuning.histogram == "serial") continue;  // its groups are single work-items
      for (const int group : options_.groups) {
        if (static_cast<std::uint64_t>(group) > context.device().largest_work_group) continue;
        KernelTuning other = tuning;
        other.group = group;  // and as many work-items in all
        other.groups_a_unit = std::max(tuning.groups_a_unit * tuning.group / group, 1);
        result.by_group.push_back(time(context, cache, other, options_.sizes.back(), nullptr));
      }
    }
    return result;
  }

 private:
  // The picture of that size, unless it is there.
  void begin(int size) {
    if (image_.width() != size) image_ = repeated(picture_, size);
  }

  // Computes the CPU's result.
  void expect() {
    const auto workspace = processor_.make_workspace();
    if (!run_stages(processor_, *workspace, std::as_const(image_).view()))
      throw Error(ExitCode::usage, "a picture of side " + std::to_string(image_.width()) + " is all border",
                  "give larger --sizes");
    expected_ = FrameResult();
    processor_.take_result(*workspace, expected_);
  }

  void tune_for(const opencl::Context& context, opencl::ProgramCache& cache) {
    begin(options_.sizes.back());
    const TuningOutcome outcome = tune(processor_, context, &cache, std::as_const(image_).view(),
                                       {.report = [&](const opencl::TuningTrial& trial) {
                                         stop_if_asked();
                                         if (options_.report) options_.report(trial);
                                       }});
    const opencl::TuningDatabase database(opencl::TuningDatabase::default_file());
    database.store(context.device(), outcome.problem, outcome.best);
  }

  std::vector<KernelTuning> variants(const opencl::DeviceInfo& device) const {
    std::vector<KernelTuning> list;
    const auto wanted = [&](const std::string& name) {
      return options_.variants.empty() ||
             std::ranges::find(options_.variants, name) != options_.variants.end();
    };
    for (const char* name : kHistogramVariants) {
      // On a GPU a single work-item a group is no way to do it.
      if (std::string_view(name) == "serial" && device.type != opencl::DeviceType::cpu) continue;
      if (wanted(name)) list.push_back(variant_tuning(name, device));
    }
    for (const char* name : {"global", "local"}) {
      if (!wanted(name)) continue;
      list.push_back(variant_tuning(name, device));
      list.back().writes_only = true;
    }
    return list;
  }

  DeviceTimes time(const opencl::Context& context, opencl::ProgramCache& cache, const KernelTuning& tuning,
                   int size, Least* read) {
    const std::string name = tuning.histogram + (tuning.writes_only ? ", writes only" : "");
    say(context.name() + ", " + std::to_string(size) + ", " + name + ", " + std::to_string(tuning.group) +
        " work-items");
    const TextureStages stages(processor_, context, &cache, tuning);
    FrameRunner runner(processor_, &stages, stages.supported());
    auto& texture = static_cast<TextureWorkspace&>(runner.workspace());
    auto& slot = static_cast<TextureSlot&>(runner.slot());
    const GrayView ordinary_picture = std::as_const(image_).view();
    FrameImage sent = sent_to(context, ordinary_picture);
    const GrayView picture = std::as_const(sent.image()).view();
    Least kernel, upload, download, host, ordinary, whole;
    const auto run = [](FrameRunner& with, GrayView frame) {
      with.prepare(frame);
      with.run();
    };
    for (int i = 0; i <= options_.runs; ++i) {
      stop_if_asked();
      ordinary.add(seconds_of([&] { run(runner, ordinary_picture); }));
      host.add(seconds_of([&] { run(runner, picture); }));
      double kernels = 0;
      for (const DeviceSpan& span : slot.spans) {
        const double seconds = span.seconds(context.name());
        if (span.kind == DeviceSpan::Kind::upload) upload.add(seconds);
        if (span.kind == DeviceSpan::Kind::download) download.add(seconds);
        if (span.kind == DeviceSpan::Kind::stage) kernels += seconds;
      }
      kernel.add(kernels);
      if (read) read->add(stages.seconds_to_read(slot, texture));
    }
    const FrameResult result = runner.take_result();
    if (!tuning.writes_only) {
      if (const std::string text = expected_.output->difference(*result.output); !text.empty())
        differs(name, text);
    }
    for (int i = 0; i < 3; ++i) {
      whole.add(seconds_of([&] {
        FrameRunner made(processor_, &stages, stages.supported());
        run(made, picture);
      }));
    }
    return {name,
            stages.tuning().group,
            size,
            kernel.seconds(),
            upload.seconds(),
            download.seconds(),
            host.seconds(),
            ordinary.seconds(),
            whole.seconds()};
  }

  static void read_all(GrayView image) {
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

  // Codes by operator; empty if an operator has not eight points.
  std::vector<Image<std::uint8_t>> codes_of(GrayView image) const {
    std::vector<Image<std::uint8_t>> all;
    for (const LbpOperator& one : options_.settings.operators) {
      const int reach = one.reach(), width = image.width() - 2 * reach;
      if (one.points() != 8 || width < 1) return {};
      Image<std::uint8_t>& codes = all.emplace_back(width, image.height() - 2 * reach);
      for (int y = 0; y < codes.height(); ++y)
        make_codes(one, image, y + reach, reach, reach + width, codes.view().row(y));
    }
    return all;
  }

  static void count_all(GrayView codes) {
    constexpr int kRows = 256;
    parallel_for_isolated((codes.height() + kRows - 1) / kRows, [&](int band) {
      const auto tables = std::make_unique<CodeTables>();
      for (int y = band * kRows; y < std::min((band + 1) * kRows, codes.height()); ++y)
        count_bytes(codes.row(y), codes.width(), *tables);
    });
  }

  void say(const std::string& what) const {
    stop_if_asked();
    if (options_.progress) options_.progress(what);
  }
  void stop_if_asked() const {
    if (options_.stop && options_.stop->load())
      throw Error(ExitCode::failed, "stopped before the end of the measurement");
  }
  [[noreturn]] static void differs(const std::string& who, const std::string& where) {
    throw Error(ExitCode::failed, who + " gives other counts: " + where,
                "this is a defect of a driver or of Sightline: report it");
  }

  GrayView picture_;
  const MeasurementOptions& options_;
  TextureProcessor processor_;
  Image<std::uint8_t> image_;
  FrameResult expected_;
};

}  // namespace

TextureMeasurement measure(GrayView picture, const MeasurementOptions& options,
                           const std::vector<opencl::ChosenDevice>& devices) {
  for (const std::string& variant : options.variants) check_kernel_variant(variant, kHistogramVariants);
  if (options.sizes.empty()) throw Error(ExitCode::usage, "no size is given", "write --sizes 1024,8336");
  Measurer measurer(picture, options);
  TextureMeasurement result;
  result.texture = TextureProcessor(options.settings).info().model;
  result.sizes = options.sizes;
  result.threads = options.threads > 0 ? options.threads : hardware_threads();
  for (const int size : options.sizes) result.cpu.push_back(measurer.cpu(size, result.threads));
  for (const opencl::ChosenDevice& device : devices) result.devices.push_back(measurer.device(device));
  return result;
}

}  // namespace sightline::texture
