#pragma once
/// Measured characteristics of a processor: curves, single figures, quantities derived from them, and
/// decisions. Plain data, the same for OpenCL devices and the host CPU; equal ids are comparable.

#include <cstdint>
#include <string>
#include <vector>

#include "opencl/kernel_resources.hpp"

namespace sightline::characterisation {

/// Clock of a time. `device`: start to end of the command on the device (OpenCL profiling). `host`: the
/// host's steady clock, from submission until completion is observed.
enum class Clock { device, host };
/// "device" or "host".
const char* to_string(Clock clock);

/// Spread of several repeats, without the first one.
struct Spread {
  double smallest = 0;
  double median = 0;
  double largest = 0;
  friend bool operator==(const Spread&, const Spread&) = default;
};

struct Point {
  double x = 0;
  Spread y;
  friend bool operator==(const Point&, const Point&) = default;
};

/// One quantity over another. Points are in rising order of x.
struct Curve {
  std::string id;      ///< stable key: "latency.global"
  std::string group;   ///< plot title, shared by its curves: "Latency by size of the array"
  std::string title;   ///< legend text: "read in a chain"
  std::string x_name;  ///< label with unit: "size, bytes"
  std::string y_unit;  ///< "ns", "GB/s", ...
  Clock clock = Clock::device;
  bool is_rate = false;  ///< true: higher is better; false: lower is better
  std::vector<Point> points;

  /// The best repeat of a point: others were disturbed.
  double best(const Point& point) const { return is_rate ? point.y.largest : point.y.smallest; }
  /// The best value at the place; 0 if nothing was measured there.
  double at(double x) const;
  friend bool operator==(const Curve&, const Curve&) = default;
};

/// A single quantity.
struct Figure {
  std::string id;     ///< "peak.float"
  std::string title;  ///< label: "float multiply-adds"
  std::string unit;   ///< "ns", "GB/s", "G/s", ...
  Clock clock = Clock::device;
  bool is_rate = false;
  Spread value;

  double best() const { return is_rate ? value.largest : value.smallest; }
  friend bool operator==(const Figure&, const Figure&) = default;
};

/// A level of the memory below the registers as a chain of reads sees it.
struct CacheLevel {
  double bytes = 0;  ///< the largest array measured that it holds
  double ns = 0;     ///< a read
  friend bool operator==(const CacheLevel&, const CacheLevel&) = default;
};

/// A decision and the figures that support it.
struct Decision {
  std::string id;      ///< "transfer", "work_group", "vector_width", "local_memory", "stage_place", ...
  std::string choice;  ///< stable key: "map", "256", "4", "yes", ...
  std::string text;    ///< explanation in one sentence
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// A benchmark that gave nothing.
struct Loss {
  std::string what;  ///< "atomic operations"
  std::string why;
  friend bool operator==(const Loss&, const Loss&) = default;
};

/// Duration of a group of benchmarks, without the time to build kernels.
struct Part {
  std::string what;    ///< name of the group, as in a loss
  double seconds = 0;  ///< by the host's clock
  friend bool operator==(const Part&, const Part&) = default;
};

struct Characteristics {
  std::string name;      ///< the processor's name
  std::string platform;  ///< OpenCL platform; "host" for the host CPU
  std::string driver;    ///< its version; of the CPU the instruction set
  std::string type;      ///< "CPU", "GPU", ...
  int compute_units = 0;
  bool thorough = false;
  double seconds = 0;        ///< total duration
  double build_seconds = 0;  ///< part of `seconds` spent on building kernels or reading them from the cache
  std::vector<Part> parts;   ///< and the benchmarks, in their order
  std::vector<Curve> curves;
  std::vector<Figure> figures;
  std::vector<CacheLevel> caches;  ///< fastest first
  double memory_ns = 0;            ///< latency of a read that misses all caches; 0: no array was large enough
  double largest_array = 0;        ///< bytes that the levels were looked for up to
  std::vector<Decision> decisions;
  std::vector<Loss> losses;
  /// Kernels of the benchmarks, if `thorough`.
  std::vector<opencl::KernelResources> kernels;

  bool is_host() const { return platform == "host"; }
  /// Null if there is no curve of that id.
  const Curve* curve(const std::string& id) const;
  /// The best value; 0 if there is none of that id.
  double figure(const std::string& id) const;
  friend bool operator==(const Characteristics&, const Characteristics&) = default;
};

}  // namespace sightline::characterisation
