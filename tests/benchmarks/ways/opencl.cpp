// The filter stage on an OpenCL device: the library's kernels, and one of float filters in all forms.
#include <map>
#include <memory>

#include "characterisation/probe.hpp"
#include "detectors/filterbank/opencl/slot.hpp"
#include "detectors/filterbank/opencl/tuning.hpp"
#include "opencl/data.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"
#include "ways/way.hpp"

namespace sightline::ways {

using filterbank::kTaps;
using filterbank::round_up;

namespace {

using filterbank::KernelTuning;
using opencl::define;

constexpr int kEntry = 12;  // words of a filter, as kernels/filterbank/filter.cl has it

// V pixels by ROWS rows stay in registers while the dictionary streams past, as in the library's kernel.
constexpr const char* kFloatKernel = R"(
kernel void filter_float(global const uchar* restrict image, int stride, int width, int height,
                         constant float* coefficients, global float* restrict responses,
                         global uchar* restrict indices, int pitch) {
  const int x = V * (int)get_global_id(0);
  const int y = ROWS * (int)get_global_id(1);
  if (x >= width || y >= height) return;
  floatv p[ROWS + 2][3];
#pragma unroll
  for (int r = 0; r < ROWS + 2; ++r) {
    global const uchar* row = image + FIRST_PIXEL + min(y + r - 1, height) * stride + x;
#pragma unroll
    for (int i = 0; i < 3; ++i) p[r][i] = TO_FLOAT(LOAD(row + i - 1));
  }
  floatv best[ROWS];
  intv index[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    best[r] = (floatv)(FORM == 1 || FORM == 4 ? 0.0f : -1.0f);
    index[r] = (intv)(0);
  }
  for (int k = 0; k < FILTERS; ++k) {
    const float4 a = vload4(3 * k, coefficients);
    const float4 b = vload4(3 * k + 1, coefficients);
    const float c = coefficients[12 * k + 8];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      floatv response = p[r][0] * (floatv)(a.s0);
      response = fma(p[r][1], (floatv)(a.s1), response);
      response = fma(p[r][2], (floatv)(a.s2), response);
      response = fma(p[r + 1][0], (floatv)(a.s3), response);
      response = fma(p[r + 1][1], (floatv)(b.s0), response);
      response = fma(p[r + 1][2], (floatv)(b.s1), response);
      response = fma(p[r + 2][0], (floatv)(b.s2), response);
      response = fma(p[r + 2][1], (floatv)(b.s3), response);
      response = fma(p[r + 2][2], (floatv)(c), response);
#if FORM == 3
      if (y + r < height) STORE(response, responses + ((y + r) * FILTERS + k) * pitch + x);
#elif FORM == 4
      best[r] += response;
#else
      const floatv size = FORM == 1 ? response : fabs(response);
      const intv better = size > best[r];
      best[r] = better ? size : best[r];
      if (FORM != 2) index[r] = better ? (intv)(k) : index[r];
#endif
    }
  }
#if FORM != 3
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (y + r < height) {
      STORE(best[r], responses + (y + r) * pitch + x);
#if FORM < 2
      STORE(TO_BYTE(index[r]), indices + (y + r) * pitch + x);
#endif
    }
  }
#endif
}
)";

// A device, or so many of its units. Kept from run to run: PoCL 3.1 lets go of a command's event, and with it
// of queue and device, only after whoever waited for the command has gone on, and fails where these are gone.
struct Opened {
  Opened(const opencl::DeviceInfo& device, int units)
      : context(opencl::ChosenDevice{device, units, ""}),
        queue(context),
        peak(device.type == opencl::DeviceType::cpu ? 0 : characterisation::measure_multiply_adds(context)) {}
  opencl::Context context;
  opencl::Queue queue;
  double peak;  ///< multiply-adds a second; 0: not measured
};

class Devices {
 public:
  explicit Devices(const opencl::DeviceInfo& device)
      : device_(device), cache_(opencl::ProgramCache::default_folder()) {}
  Opened& with(int threads) {
    const bool part = device_.type == opencl::DeviceType::cpu && threads < device_.compute_units;
    std::unique_ptr<Opened>& opened = opened_[part ? threads : 0];
    if (!opened) opened = std::make_unique<Opened>(device_, part ? threads : 0);
    return *opened;
  }
  const opencl::DeviceInfo& device() const { return device_; }
  opencl::ProgramCache& cache() { return cache_; }

 private:
  opencl::DeviceInfo device_;
  opencl::ProgramCache cache_;
  std::map<int, std::unique_ptr<Opened>> opened_;  // by compute units, 0: all
};

// What a run has on a device.
struct OnDevice {
  OnDevice(Opened& opened, const Problem& problem)
      : context(opened.context), queue(opened.queue), peak(opened.peak) {
    const GrayView view = problem.image.view();
    const auto bytes = static_cast<std::size_t>(PaddedImage::bytes_for(view.size()));
    image = opencl::Buffer(context, bytes + 64);
    queue.write_now(image, view.data() - PaddedImage::first_pixel(view.width()), bytes);
  }

  const opencl::Context& context;
  opencl::Queue& queue;
  double peak;
  opencl::Program program;
  opencl::Kernel kernel;
  opencl::Buffer image, dictionary, levels, tiles, responses, indices;
  opencl::NDRange range;
  opencl::Event last;
};

std::vector<float> entries(const Problem& problem, Arithmetic arithmetic) {
  std::vector<float> all(static_cast<std::size_t>(problem.dictionary.size()) * kEntry, 0.0F);
  for (int k = 0; k < problem.dictionary.size(); ++k) {
    for (int i = 0; i < kTaps; ++i) {
      all[static_cast<std::size_t>(k) * kEntry + i] = arithmetic == Arithmetic::exact
                                                          ? problem.dictionary.filters()[k][i]
                                                          : problem.dictionary.reference()[k][i];
    }
    all[static_cast<std::size_t>(k) * kEntry + kTaps] = static_cast<float>(255 - k);
  }
  return all;
}

std::string build_options(const Problem& problem, const KernelTuning& tuning) {
  return define("FILTERS", problem.dictionary.size()) + define("V", tuning.filter_width) +
         define("ROWS", tuning.filter_rows) + opencl::define_variant("VARIANT", tuning.filter);
}

Run run_of(const std::shared_ptr<OnDevice>& on) {
  Run run;
  run.frame = [on] {
    on->last = on->kernel.enqueue(on->queue, on->range);
    on->queue.finish();
  };
  run.peak = on->peak;
  if (on->context.device().type != opencl::DeviceType::cpu) {
    run.device_ms = [on] {
      const opencl::Event::Times times = on->last.times(on->context.name());
      return 1e-6 * static_cast<double>(times.ended - times.started);
    };
  }
  return run;
}

Way float_way(const std::shared_ptr<Devices>& devices) {
  Way way;
  way.name = "OpenCL, float";
  way.forms.assign(std::begin(kForms), std::end(kForms));
  way.forms.push_back(Form::sum);
  way.prepare = [devices](const Problem& problem, Form form, int threads, Result& result) {
    KernelTuning tuning = filterbank::tuning_table().defaults(devices->device());
    tuning.filter = "vector";
    const auto on = std::make_shared<OnDevice>(devices->with(threads), problem);
    on->program = opencl::Program(
        on->context, "filterbank/filter.cl",
        build_options(problem, tuning) + define("FORM", static_cast<int>(form)) +
            define("FIRST_PIXEL", static_cast<int>(PaddedImage::first_pixel(problem.size.width))) +
            (tuning.filter_width == 1 ? std::string(" -DTO_BYTE=convert_uchar")
                                      : " -DTO_BYTE=convert_uchar" + std::to_string(tuning.filter_width)),
        &devices->cache(), kFloatKernel);
    opencl::upload(on->queue, on->dictionary, entries(problem, Arithmetic::floating));
    on->responses = opencl::Buffer(on->context, result.floats.size() * sizeof(float));
    on->indices = opencl::Buffer(on->context, result.indices.size());
    on->kernel = opencl::Kernel(on->program, "filter_float");
    on->kernel.arguments(on->image, static_cast<cl_int>(problem.image.view().stride()),
                         static_cast<cl_int>(problem.size.width), static_cast<cl_int>(problem.size.height),
                         on->dictionary, on->responses, on->indices, static_cast<cl_int>(problem.pitch()));
    const auto count = [](int pixels, int each, int group) {
      return static_cast<std::size_t>(round_up((pixels + each - 1) / each, group));
    };
    on->range = opencl::NDRange{{count(problem.size.width, tuning.filter_width, tuning.filter_group),
                                 count(problem.size.height, tuning.filter_rows, tuning.filter_group_rows), 1},
                                {static_cast<std::size_t>(tuning.filter_group),
                                 static_cast<std::size_t>(tuning.filter_group_rows), 1}};
    Run run = run_of(on);
    run.fetch = [on, &result] {
      on->queue.wait(on->queue.read(on->responses, result.floats.data(), on->responses.bytes()));
      on->queue.wait(on->queue.read(on->indices, result.indices.data(), on->indices.bytes()));
    };
    return run;
  };
  return way;
}

// One level of a pyramid, and the parts of it that work-groups take.
void upload_level(OnDevice& on, const Problem& problem, const KernelTuning& tuning) {
  filterbank::DeviceLevel level{};
  level.width = problem.size.width;
  level.height = problem.size.height;
  level.image_offset = static_cast<cl_int>(PaddedImage::first_pixel(problem.size.width));
  level.image_stride = static_cast<cl_int>(problem.image.view().stride());
  level.response_map_stride = static_cast<cl_int>(problem.pitch());
  opencl::upload(on.queue, on.levels, std::vector{level});
  std::vector<opencl::Tile> tiles;
  for (int y = 0; y < level.height; y += tuning.filter_rows * tuning.filter_group_rows) {
    for (int x = 0; x < level.width; x += tuning.filter_width * tuning.filter_group)
      tiles.push_back({0, x, y, level.height});
  }
  opencl::upload(on.queue, on.tiles, tiles);
  on.range = opencl::groups(tiles.size(), static_cast<std::size_t>(tuning.filter_group),
                            static_cast<std::size_t>(tuning.filter_group_rows));
}

Way exact_way(const std::shared_ptr<Devices>& devices, const std::string& variant) {
  Way way;
  way.name = "OpenCL, exact, " + variant;
  way.arithmetic = Arithmetic::exact;
  way.forms = {Form::magnitude};
  way.picture = variant == filterbank::tuning_table().defaults(devices->device()).filter;
  way.prepare = [devices, variant](const Problem& problem, Form, int threads, Result& result) {
    KernelTuning tuning = filterbank::tuning_table().defaults(devices->device());
    tuning.filter = variant;
    if (variant == "plain" || variant == "unrolled") tuning.filter_width = tuning.filter_rows = 1;
    const auto on = std::make_shared<OnDevice>(devices->with(threads), problem);
    on->program = opencl::Program(on->context, "filterbank/filter.cl", build_options(problem, tuning),
                                  &devices->cache());
    opencl::upload(on->queue, on->dictionary, entries(problem, Arithmetic::exact));
    upload_level(*on, problem, tuning);
    on->responses = opencl::Buffer(on->context, result.integers.size() * sizeof(cl_int));
    on->kernel = opencl::Kernel(on->program, "filter");
    on->kernel.arguments(on->image, on->levels, on->tiles, on->dictionary, on->responses);
    Run run = run_of(on);
    run.fetch = [on, &problem, &result] {
      on->queue.wait(on->queue.read(on->responses, result.integers.data(), on->responses.bytes()));
      for (int y = 0; y < problem.size.height; ++y) {
        for (int x = 0; x < problem.size.width; ++x) {
          const std::ptrdiff_t at = y * problem.pitch() + x;
          const auto packed = static_cast<std::uint32_t>(result.integers[at]);
          result.indices[at] = static_cast<std::uint8_t>(filterbank::response_bin(packed));
          result.integers[at] = static_cast<std::int32_t>(filterbank::response_magnitude(packed));
        }
      }
    };
    return run;
  };
  return way;
}

}  // namespace

std::vector<Way> opencl_ways(const opencl::DeviceInfo& device) {
  const auto devices = std::make_shared<Devices>(device);
  std::vector<Way> ways{float_way(devices)};
  for (const char* variant : {"plain", "unrolled", "vector", "local"})
    ways.push_back(exact_way(devices, variant));
  for (Way& way : ways) way.on_gpu = device.type != opencl::DeviceType::cpu;
  return ways;
}

}  // namespace sightline::ways
