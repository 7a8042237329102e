#pragma once
/// What S. Tek's thesis compares its search with, by squared Euclidean distance: a k-d tree, and a work-item
/// a template. Both find the exact nearest template.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "opencl/context.hpp"

namespace sightline::benchmarks {

/// Equally long templates, one after the other.
struct PlainTemplates {
  std::vector<std::uint8_t> values;
  std::size_t dims = 0;

  std::size_t size() const { return values.size() / dims; }
};

/// Prints the median of `repeats` searches of a k-d tree on one thread, and how long it took to build;
/// nothing without nanoflann. Throws Error (failed) for a wrong result.
void run_kd_tree(const PlainTemplates& templates, std::span<const std::uint8_t> query, int repeats);

/// The same of a kernel whose work-items take a template each; the host picks the nearest. Throws
/// DeviceError.
void run_pairs(opencl::Queue& queue, const opencl::Context& context, const PlainTemplates& templates,
               std::span<const std::uint8_t> query, int repeats);

}  // namespace sightline::benchmarks
