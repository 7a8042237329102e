#pragma once
/// How the kernels that count patterns can be built, and which of it is fastest on a device.

#include <array>
#include <string>
#include <string_view>

#include "opencl/tuning.hpp"
#include "processing/opencl/opencl_tuner.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

/// Where counts are added up; see kernels/texture/count.cl.
inline constexpr std::array<const char*, 5> kHistogramVariants{"global", "local", "mapreduce", "banked",
                                                               "serial"};

inline constexpr int kMostWorkItems = 1024;  ///< of a work-group

/// How the kernels are built for a device. Every choice gives the same results, but for the last.
struct KernelTuning {
  std::string histogram = "local";  ///< one of kHistogramVariants
  std::string pixels = "word";      ///< at once by a work-item: word, four; vector, sixteen
  int group = kMostWorkItems;       ///< work-items of a work-group
  int rows = 4;                     ///< that a work-item takes at once
  int copies = 32;                  ///< of the bins, of variant banked
  int groups_a_unit = 1;            ///< work-groups a compute unit, which take all there is among them
  bool writes_only = false;         ///< counts without reading the picture: a measurement, not a result
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};

/// For people.
std::string to_string(const KernelTuning& tuning);
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The same as data: parameters, defaults, and what the tuner tries.
const KernelTable& tuning_table();
/// The best for these of a variant, one of kHistogramVariants.
KernelTuning variant_tuning(std::string_view histogram, const opencl::DeviceInfo& device);

/// What the results of tuning are stored under.
std::string tuning_problem(const TextureSettings& settings);
/// What has been stored for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const TextureSettings& settings);

/// Tunes the kernels of a TextureProcessor; see TuneFunction.
TuningOutcome tune(const FrameProcessor& processor, const opencl::Context& context,
                   opencl::ProgramCache* cache, PictureView frame, const TuneOptions& options);

}  // namespace sightline::texture
