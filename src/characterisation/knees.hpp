#pragma once
/// Quantities derived from curves by fixed rules.

#include <span>
#include <vector>

#include "characterisation/characteristics.hpp"

namespace sightline::characterisation {

/// A place on a curve.
struct Sample {
  double x = 0;
  double y = 0;
};

/// The best value at each point.
std::vector<Sample> samples_of(const Curve& curve);

struct MemoryLevels {
  std::vector<CacheLevel> caches;
  double memory_ns = 0;
};

/// Cache levels from a curve of read latencies (ns) over array sizes (bytes), in rising order of sizes.
///
/// The rule:
/// 1. Larger arrays are never faster to read, and disturbances only add time. So each latency is lowered to
///    the minimum at that size or beyond. The last size, which has no such check, is ignored if it is more
///    than 25% above the one before.
/// 2. A plateau is a run of sizes, as long as possible, whose latencies stay within 25% above its first, and
///    then above its median, and whose last size is at least twice its first. Sizes between plateaus are
///    transitions.
/// 3. Neighbouring plateaus whose median latencies differ by a factor of less than 1.4 are merged: they come
///    from rising costs of address translation. A cache that is not 1.4 times as fast as the next is not
///    found.
/// 4. A plateau that another one follows, or a transition of at least that factor, is a cache. It holds the
///    plateau's last size, and its latency is the plateau's median. The last plateau is memory.
/// A cache's true size is between the returned size and the next measured one.
MemoryLevels find_levels(std::span<const Sample> latencies);

/// End of the first level of a curve of times: the last x up to which no y is more than (1 + tolerance) times
/// the first one. 0 for an empty curve.
double last_flat(std::span<const Sample> times, double tolerance);

/// Saturation point of a rising curve of rates: the first x whose rate is at least `share` of the highest.
double first_full(std::span<const Sample> rates, double share);

/// The period of dips in rates over shifts, in units of x: the smallest power of two (2 to 32) p for which
/// shifts by multiples of p are faster, by their median, than all others' by theirs, by more than 5%; of
/// several such, the one with the largest difference. 0: shifts make no difference.
int shift_period(std::span<const Sample> rates);

/// Number of local memory banks, from a curve of latencies over strides: the smallest stride whose latency is
/// at least 0.9 times the highest. 0 (no conflicts) unless the highest is at least `rise` times that of
/// stride 1.
int bank_count(std::span<const Sample> latencies, double rise = 1.3);

}  // namespace sightline::characterisation
