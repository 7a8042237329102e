#pragma once
/// Tuning parameters of the pattern counting kernels, and the best values for a device.

#include <array>
#include <string>
#include <string_view>

#include "opencl/tuning.hpp"
#include "processing/opencl/opencl_tuner.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

/// Locations of the counters; see kernels/texture/count.cl.
inline constexpr std::array<const char*, 5> kHistogramVariants{"global", "local", "mapreduce", "banked",
                                                               "serial"};

inline constexpr int kMostWorkItems = 1024;  ///< limit of a work-group

/// Build options of the kernels for a device. All but the last leave the results unchanged.
struct KernelTuning {
  std::string histogram = "local";  ///< one of kHistogramVariants
  std::string pixels = "word";      ///< pixels per work-item and step: word, four; vector, sixteen
  int group = kMostWorkItems;       ///< work-items of a work-group
  int rows = 4;                     ///< rows per work-item
  int copies = 32;                  ///< copies of the bins in variant banked
  int groups_a_unit = 1;            ///< work-groups a compute unit, which take all there is among them
  bool writes_only = false;         ///< counts without reading the picture: a measurement, not a result
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};

/// For people.
std::string to_string(const KernelTuning& tuning);
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The tuning table: parameters, defaults, and combinations for the tuner.
const KernelTable& tuning_table();
/// The best for these of a variant, one of kHistogramVariants.
KernelTuning variant_tuning(std::string_view histogram, const opencl::DeviceInfo& device);

/// Key of the stored tuning results.
std::string tuning_problem(const TextureSettings& settings);
/// Stored tuning for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const TextureSettings& settings);

/// Tunes the kernels of a TextureProcessor; see TuneFunction.
TuningOutcome tune(const FrameProcessor& processor, const opencl::Context& context,
                   opencl::ProgramCache* cache, PictureView frame, const TuneOptions& options);

}  // namespace sightline::texture
