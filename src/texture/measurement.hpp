#pragma once
/// Benchmark of pattern counting: kernel variants, work-group sizes and picture sizes, compared with plain
/// serial code and the machine's bounds.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "image/view.hpp"
#include "opencl/device.hpp"
#include "opencl/tuning.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

struct MeasurementOptions {
  TextureSettings settings;
  std::vector<int> sizes{1024, 2048, 4096, 8336};    ///< sides of the square pictures, rising
  std::vector<int> groups{64, 128, 256, 512, 1024};  ///< work-items, of the largest picture
  std::vector<std::string> variants;                 ///< names of kHistogramVariants; empty: all
  bool tune = false;            ///< find each device's fastest form first, and remember it for it
  opencl::TuningReport report;  ///< called for tuning trials; may be empty
  int runs = 9;                 ///< runs per measurement; the fastest counts
  int threads = 0;              ///< CPU threads; 0: all
  std::function<void(const std::string&)> progress;  ///< called with the current step; may be empty
  const std::atomic<bool>* stop = nullptr;           ///< may be null
};

/// Seconds that the CPU takes for a picture of one size; each the fastest of several runs, by turns.
struct CpuTimes {
  int size = 0;           ///< side
  double serial = 0;      ///< the definition, in plain code on one thread
  double one_thread = 0;  ///< SIMD
  double threads = 0;     ///< likewise on all threads
  double read = 0;        ///< all threads read the picture: a bound
  /// Seconds of all threads to count given codes of all operators: another bound. 0 if an operator has not
  /// eight points.
  double increments = 0;
};

/// Seconds of one variant on a device; likewise.
struct DeviceTimes {
  /// One of kHistogramVariants; "global, writes only", "local, writes only"; or "tuned", what counting takes.
  std::string variant;
  int group = 0;  ///< work-items of a work-group
  int size = 0;
  double kernel = 0;  ///< all kernels, and clearing their counters
  double upload = 0;
  double download = 0;
  /// From picture to histogram in host memory, with existing buffers. The picture is in page-locked memory,
  /// as tiles are.
  double host = 0;
  double ordinary = 0;  ///< likewise from any other memory
  double whole = 0;     ///< like `host`, including buffer creation
};

struct DeviceMeasurement {
  std::string name;
  std::string tuned;                  ///< description of the counting variant
  std::vector<DeviceTimes> by_size;   ///< size by size, each variant with the work-group it has by default
  std::vector<DeviceTimes> by_group;  ///< largest picture, by group size
  /// Seconds of a kernel that reads the picture and does nothing else, by size: a bound.
  std::vector<double> read;
};

struct TextureMeasurement {
  std::string texture;  ///< description of the counted texture
  std::string picture;  ///< description of the source picture
  int threads = 0;      ///< CPU threads
  std::vector<int> sizes;
  std::vector<CpuTimes> cpu;  ///< times by size
  std::vector<DeviceMeasurement> devices;
};

/// Measures pictures that repeat `picture` until they are large enough, on the CPU and on the devices one
/// after the other. Every result is compared with the CPU's (but for writes only): another one is an Error
/// (failed), and so is being stopped. Throws DeviceError.
TextureMeasurement measure(GrayView picture, const MeasurementOptions& options,
                           const std::vector<opencl::ChosenDevice>& devices);

/// Tables for a terminal.
std::string as_text(const TextureMeasurement& measurement);
std::string as_json(const TextureMeasurement& measurement);

}  // namespace sightline::texture
