#include "characterisation/probe.hpp"

#include "characterisation/benchmarks.hpp"

namespace sightline::characterisation {
namespace {

// A frame's size of data: 8 MB, an RGBA picture of 1080 rows.
constexpr std::size_t kFrame = std::size_t{8} << 20;

}  // namespace

double measure_multiply_adds(const opencl::Context& context) {
  DeviceSession session(context, nullptr, {});
  return 1e9 * peak_rate(session, Number::float_number).largest;
}

DeviceRates measure_rates(const opencl::Context& context) {
  DeviceSession session(context, nullptr, {});
  DeviceRates rates;
  rates.multiply_adds = 1e9 * peak_rate(session, Number::float_number).largest;
  rates.launch_latency = time_launch(session).smallest;
  rates.launch_interval = time_launch_interval(session).smallest;

  const std::size_t words = large_array_words(session);
  const opencl::Buffer from = numbered_words(session, words);
  const opencl::Buffer to(context, words * sizeof(cl_uint));
  rates.bandwidth = 1e9 * copy_rate(session, from, to, words, 4, 0).largest;

  const std::size_t frame = std::min<std::size_t>(kFrame, words * sizeof(cl_uint));
  const auto transfer = [&](Way way) {
    return static_cast<double>(frame) / time_transfer(session, way, frame).smallest;
  };
  rates.upload_pinned = transfer(Way::pinned_up);
  rates.upload_pageable = transfer(Way::pageable_up);
  rates.download_pinned = transfer(Way::pinned_down);
  rates.download_pageable = transfer(Way::pageable_down);
  rates.map = transfer(Way::mapped_up);
  return rates;
}

}  // namespace sightline::characterisation
