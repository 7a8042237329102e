#include "characterisation/latency_curve.hpp"

#include <utility>

#include "characterisation/cycle.hpp"
#include "characterisation/knees.hpp"

namespace sightline::characterisation {

void measure_latency_curve(const Effort& effort, const std::string& title, Clock clock, std::size_t most,
                           const std::function<void(std::size_t bytes, std::vector<double>& ns)>& time_reads,
                           Characteristics& result) {
  Curve curve{"latency.global",
              "Reads in a random chain, by size of the array",
              title,
              "size of the array, bytes",
              "ns",
              clock,
              false,
              {}};
  const std::vector<std::size_t> sizes = array_sizes(2048, most, effort.is_thorough());
  std::vector<std::vector<double>> ns(sizes.size());
  for (int pass = 0; pass < effort.passes(); ++pass)
    for (std::size_t i = 0; i < sizes.size(); ++i) time_reads(sizes[i], ns[i]);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    curve.points.push_back({static_cast<double>(sizes[i]), spread_of(ns[i])});
  const MemoryLevels levels = find_levels(samples_of(curve));
  result.caches = levels.caches;
  result.memory_ns = levels.memory_ns;
  result.largest_array = curve.points.back().x;
  result.curves.push_back(std::move(curve));
}

}  // namespace sightline::characterisation
