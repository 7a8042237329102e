#pragma once
/// Cost of counting patterns: variants of the kernels, work-group sizes and picture sizes side by side,
/// with plain serial code and the machine's bounds beside them.

#include <string>
#include <vector>

#include "image/view.hpp"
#include "opencl/device.hpp"
#include "opencl/kernel_resources.hpp"
#include "opencl/tuning.hpp"
#include "pipeline/measurement/experiment.hpp"
#include "texture/settings.hpp"

namespace sightline::apps {

struct TextureExperimentOptions {
  texture::TextureSettings settings;
  std::vector<int> sizes{1024, 2048, 4096, 8336};    ///< sides of the square pictures, rising
  std::vector<int> groups{64, 128, 256, 512, 1024};  ///< work-items, of the largest picture
  std::vector<std::string> variants;                 ///< of kHistogramVariants; none: all
  bool tune = false;            ///< find each device's fastest form first, and remember it for it
  opencl::TuningReport report;  ///< told of the trials of that; may be empty
  int threads = 0;              ///< of the CPU; 0: all
  pipeline::ExperimentOptions experiment;
};

struct TextureExperiment {
  /// A form of the kernels.
  struct Form {
    std::string variant;  ///< one of kHistogramVariants, "..., writes only", or "tuned": what counting takes
    int group = 0;        ///< work-items of a work-group
    std::size_t implementation = 0;  ///< of an experiment
  };
  struct Device {
    std::string name;
    std::string tuned;  ///< the form that counting takes, for people
    std::vector<Form> by_size, by_group;
    std::vector<opencl::KernelResources> kernels = {};  ///< of all forms
  };
  std::string texture;  ///< what is counted, for people
  int threads = 0;      ///< of the CPU
  std::vector<Device> devices;
  /// By size: first plain code on one thread, SIMD on one and on all threads, reading the picture and
  /// counting codes that are there already (where all operators have eight points), which are bounds; then
  /// the forms. By work-group, of the largest picture: the forms.
  std::vector<pipeline::Experiment> experiments;
};

/// Measures pictures that repeat `picture` until they are large enough. Throws Error (failed) where it is
/// stopped, or where results differ (but for writes only), and DeviceError.
TextureExperiment run_texture_experiment(GrayView picture, const TextureExperimentOptions& options,
                                         const std::vector<opencl::ChosenDevice>& devices);

/// Milliseconds, the fastest of the runs.
/// @param picture  what pictures are cut from, for people
std::string texture_json(const TextureExperiment& measured, const std::string& picture);

}  // namespace sightline::apps
