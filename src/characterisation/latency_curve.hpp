#pragma once
/// Latency curve of chained reads over the array size, and the cache levels on it, for devices and the CPU.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "characterisation/timing.hpp"

namespace sightline::characterisation {

/// Measures curve `latency.global` (ns over bytes) and the levels of caches on it, in Effort::passes passes
/// over all sizes.
/// @param title       title of the curve, which names the reader
/// @param most        bytes of the largest array
/// @param time_reads  appends the ns that a read takes in an array of that many bytes, several times
void measure_latency_curve(const Effort& effort, const std::string& title, Clock clock, std::size_t most,
                           const std::function<void(std::size_t bytes, std::vector<double>& ns)>& time_reads,
                           Characteristics& result);

}  // namespace sightline::characterisation
