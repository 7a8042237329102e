#include "characterisation/probe.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "opencl/error.hpp"
#include "opencl/program.hpp"

namespace sightline::characterisation {
using opencl::Buffer;
using opencl::check;
using opencl::Context;
using opencl::DeviceType;
using opencl::Event;
using opencl::Kernel;
using opencl::Program;
using opencl::Queue;
using opencl::StagingBuffer;
namespace {

constexpr int kRepeats = 5;

double device_seconds(const Event& event, const Context& context) {
  const Event::Times times = event.times(context.name());
  return 1e-9 * static_cast<double>(times.ended - times.started);
}

// Host seconds of the fastest of several runs, the first left out.
template <typename Work>
double best_host_seconds(const Work& work) {
  double best = std::numeric_limits<double>::max();
  work();
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

int vector_width(const Context& context) {
  return context.device().type == DeviceType::cpu ? std::clamp(context.device().native_float_width, 1, 16)
                                                  : 1;
}

}  // namespace

double measure_multiply_adds(const Context& context) {
  const int width = vector_width(context);
  const Program program(context, "characterisation/peak.cl", "-DV=" + std::to_string(width), nullptr);
  Queue queue(context);
  const bool cpu = context.device().type == DeviceType::cpu;
  const std::size_t group = cpu ? 1 : 256;
  const std::size_t items = static_cast<std::size_t>(context.device().compute_units) * (cpu ? 8 : 16) * group;
  const Buffer out(context, items * sizeof(float));
  Kernel kernel(program, "multiply_adds");
  double best = 0;
  int rounds = cpu ? 2000 : 200;
  for (int i = 0; i < 2 * kRepeats; ++i) {
    kernel.arguments(out, cl_int{rounds}, 0.999F, 0.001F);
    const Event event = kernel.enqueue(queue, {{items, 1, 1}, {group, 1, 1}});
    queue.wait(event);
    best =
        std::max(best, 512.0 * width * rounds * static_cast<double>(items) / device_seconds(event, context));
  }
  return best;
}

DeviceRates measure_rates(const Context& context) {
  DeviceRates rates;
  rates.multiply_adds = measure_multiply_adds(context);
  const Program program(context, "characterisation/peak.cl", "", nullptr);
  Queue queue(context);

  // Far larger than any cache.
  const std::size_t bytes =
      std::min<std::size_t>(std::size_t{256} << 20, context.device().largest_buffer_bytes / 2);
  const Buffer from(context, bytes);
  const Buffer to(context, bytes);
  Kernel copy(program, "copy");
  copy.arguments(from, to);
  queue.wait(queue.fill(from, 1, bytes));
  queue.wait(queue.fill(to, 2, bytes));
  for (int i = 0; i < kRepeats; ++i) {
    const Event event = copy.enqueue(queue, {{bytes / 16, 1, 1}, {}});
    queue.wait(event);
    rates.bandwidth =
        std::max(rates.bandwidth, 2.0 * static_cast<double>(bytes) / device_seconds(event, context));
  }

  Kernel nothing(program, "nothing");
  nothing.arguments(cl_int{0});
  const auto launch = [&] { return nothing.enqueue(queue, {{1, 1, 1}, {1, 1, 1}}); };
  rates.launch_latency = best_host_seconds([&] { queue.wait(launch()); });
  constexpr int kLaunches = 200;
  rates.launch_interval = best_host_seconds([&] {
                            for (int i = 0; i < kLaunches; ++i) launch();
                            queue.finish();
                          }) /
                          kLaunches;

  // A frame's size of data: 8 MB, an RGBA picture of 1080 rows.
  const std::size_t frame = std::min<std::size_t>(std::size_t{8} << 20, bytes);
  StagingBuffer pinned(queue, frame);
  std::vector<std::byte> pageable(frame, std::byte{1});
  std::memset(pinned.data(), 1, frame);
  const auto rate = [&](double seconds) { return static_cast<double>(frame) / seconds; };
  rates.upload_pinned = rate(best_host_seconds([&] { queue.wait(queue.write(from, pinned.data(), frame)); }));
  rates.upload_pageable =
      rate(best_host_seconds([&] { queue.wait(queue.write(from, pageable.data(), frame)); }));
  rates.download_pinned =
      rate(best_host_seconds([&] { queue.wait(queue.read(from, pinned.data(), frame)); }));
  rates.download_pageable =
      rate(best_host_seconds([&] { queue.wait(queue.read(from, pageable.data(), frame)); }));
  rates.map = rate(best_host_seconds([&] {
    cl_int code = CL_SUCCESS;
    void* mapped = clEnqueueMapBuffer(queue.get(), from.get(), CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                      frame, 0, nullptr, nullptr, &code);
    check(code, "clEnqueueMapBuffer", context.name());
    std::memcpy(mapped, pageable.data(), frame);
    check(clEnqueueUnmapMemObject(queue.get(), from.get(), mapped, 0, nullptr, nullptr),
          "clEnqueueUnmapMemObject", context.name());
    queue.finish();
  }));
  return rates;
}

}  // namespace sightline::characterisation
