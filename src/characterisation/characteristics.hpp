#pragma once
/// What a processor can do, measured: curves and single figures, what was read off them, and what follows.
/// Plain data, the same for OpenCL devices and for the CPU by itself; equal ids are comparable.

#include <cstdint>
#include <string>
#include <vector>

namespace sightline::characterisation {

/// Whose clock a time is by. `device`: start to end of the command on the device (OpenCL's profiling).
/// `host`: the host's steady clock, from handing work over until its end is seen.
enum class Clock { device, host };
/// "device" or "host".
const char* to_string(Clock clock);

/// Of several repeats, a first one left out.
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
  std::string id;      ///< for programs: "latency.global"
  std::string group;   ///< curves of one plot have the same; for people: "Latency by size of the array"
  std::string title;   ///< among them, for people: "read in a chain"
  std::string x_name;  ///< with its unit, for people: "size, bytes"
  std::string y_unit;  ///< "ns", "GB/s", ...
  Clock clock = Clock::device;
  bool is_rate = false;  ///< more is better; else less is
  std::vector<Point> points;

  /// The best repeat of a point: others were disturbed.
  double best(const Point& point) const { return is_rate ? point.y.largest : point.y.smallest; }
  /// The best value at the place; 0 where nothing was measured there.
  double at(double x) const;
  friend bool operator==(const Curve&, const Curve&) = default;
};

/// A single quantity.
struct Figure {
  std::string id;     ///< "peak.float"
  std::string title;  ///< for people: "float multiply-adds"
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

/// What to do, and the figures that say so.
struct Decision {
  std::string id;      ///< "transfer", "work_group", "vector_width", "local_memory", "stage_place", ...
  std::string choice;  ///< for programs: "map", "256", "4", "yes", ...
  std::string text;    ///< for people: a sentence
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// A benchmark that gave nothing.
struct Loss {
  std::string what;  ///< "atomic operations"
  std::string why;
  friend bool operator==(const Loss&, const Loss&) = default;
};

/// What a group of benchmarks took, without the kernels that were built during it.
struct Part {
  std::string what;    ///< as of a loss
  double seconds = 0;  ///< on the host's clock
  friend bool operator==(const Part&, const Part&) = default;
};

struct Characteristics {
  std::string name;      ///< of the processor
  std::string platform;  ///< OpenCL's; "host" for the CPU by itself
  std::string driver;    ///< its version; of the CPU the instruction set
  std::string type;      ///< "CPU", "GPU", ...
  int compute_units = 0;
  bool thorough = false;
  double seconds = 0;        ///< that it took
  double build_seconds = 0;  ///< of these, until kernels were built or had been read from the cache
  std::vector<Part> parts;   ///< and the benchmarks, in their order
  std::vector<Curve> curves;
  std::vector<Figure> figures;
  std::vector<CacheLevel> caches;  ///< from the fastest to the slowest
  double memory_ns = 0;            ///< a read that hits none of them; 0: no array was that large
  double largest_array = 0;        ///< bytes that the levels were looked for up to
  std::vector<Decision> decisions;
  std::vector<Loss> losses;

  bool is_host() const { return platform == "host"; }
  /// Null where there is none of that id.
  const Curve* curve(const std::string& id) const;
  /// The best value; 0 where there is none of that id.
  double figure(const std::string& id) const;
  friend bool operator==(const Characteristics&, const Characteristics&) = default;
};

}  // namespace sightline::characterisation
