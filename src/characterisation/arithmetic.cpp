// Chained operations of one work-item, and the throughput of all work-items together.
#include <cmath>
#include <cstring>

#include "characterisation/benchmarks.hpp"
#include "characterisation/chains.hpp"
#include "characterisation/programs.hpp"

namespace sightline::characterisation {
namespace {

std::uint32_t dot4(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (int shift = 0; shift < 32; shift += 8) sum += ((a >> shift) & 255) * ((b >> shift) & 255);
  return sum;
}

constexpr float kScale = 0.999F, kAdd = 0.001F;
constexpr std::uint32_t kWholeScale = 3, kWholeAdd = 7;

template <typename T, typename Step>
T sum_of_chains(int rounds, const Step& step) {
  T total{};
  for (int chain = 0; chain < 16; ++chain) {
    T x = static_cast<T>(chain + 1);
    for (int i = 0; i < 32 * rounds; ++i) x = step(x);
    total = chain == 0 ? x : static_cast<T>(total + x);
  }
  return total;
}

// Expected value of each work-item's first lane after `rounds` rounds; half precision is compared with a
// tolerance.
bool are_right(DeviceSession& session, const opencl::Buffer& out, std::size_t items, Number number,
               int rounds) {
  const std::size_t bytes = number == Number::double_number ? 8 : number == Number::half_number ? 2 : 4;
  std::vector<std::byte> memory(items * bytes);
  session.queue().wait(session.queue().read(out, memory.data(), memory.size()));
  const auto all_are = [&](auto expected) {
    for (std::size_t item = 0; item < items; ++item)
      if (std::memcmp(memory.data() + item * bytes, &expected, sizeof expected) != 0) return false;
    return true;
  };
  switch (number) {
    case Number::float_number:
      return all_are(sum_of_chains<float>(rounds, [](float x) { return std::fma(x, kScale, kAdd); }));
    case Number::double_number:
      return all_are(
          sum_of_chains<double>(rounds, [](double x) { return std::fma(x, double{kScale}, double{kAdd}); }));
    case Number::whole_number:
      return all_are(
          sum_of_chains<std::uint32_t>(rounds, [](std::uint32_t x) { return x * kWholeScale + kWholeAdd; }));
    case Number::bytes:
      return all_are(
          sum_of_chains<std::uint32_t>(rounds, [](std::uint32_t x) { return x + dot4(x, kWholeScale); }));
    case Number::half_number:
      break;
  }
  std::uint16_t first = 0;  // every work-item the same, and neither zero nor infinite
  std::memcpy(&first, memory.data(), sizeof first);
  return all_are(first) && (first & 0x7FFF) != 0 && (first & 0x7C00) != 0x7C00;
}

struct PeakName {
  Number number;
  const char* id;
  const char* title;
};
constexpr PeakName kPeaks[] = {{Number::float_number, "peak.float", "multiply-adds of float"},
                               {Number::whole_number, "peak.int", "multiply-adds of 32-bit integers"},
                               {Number::half_number, "peak.half", "multiply-adds of half"},
                               {Number::double_number, "peak.double", "multiply-adds of double"},
                               {Number::bytes, "peak.dot", "multiply-adds of bytes, by fours"}};

// Device seconds of a chain's turns.
template <typename T, typename Step>
Spread time_chain(DeviceSession& session, const Chain<T, Step>& chain, int& turns) {
  opencl::Kernel kernel = session.kernel(kOperationsProgram, chain.kernel);
  const opencl::Buffer out(session.context(), 2 * sizeof(T));
  const auto seconds_of = [&](int count) {
    kernel.arguments(out, cl_int{count}, chain.x, chain.b);
    return session.run(kernel, {{1, 1, 1}, {1, 1, 1}});
  };
  turns = calibrate(session.effort(), seconds_of, 8, 1 << 18);
  const Spread seconds = repeat(session.effort(), [&] { return seconds_of(turns); });
  T values[2];
  session.queue().wait(session.queue().read(out, values, sizeof values));
  const auto expected = run_chain(chain, turns);
  require_result(values[0] == expected.first && values[1] == expected.second, chain.title, session.context());
  return seconds;
}

}  // namespace

bool has_numbers(const opencl::DeviceInfo& device, Number number) {
  const auto has = [&](const char* extension) {
    return device.extensions.find(extension) != std::string::npos;
  };
  switch (number) {
    case Number::half_number:
      return has("cl_khr_fp16");
    case Number::double_number:
      return has("cl_khr_fp64");
    case Number::bytes:
      return device.is_nvidia() || device.integer_dot_product;
    default:
      return true;
  }
}

Spread peak_rate(DeviceSession& session, Number number) {
  opencl::Kernel kernel = session.kernel(peak_program(session.device(), number), "multiply_adds");
  const std::size_t group = session.is_cpu() ? 1 : session.usual_group();
  const std::size_t items = session.filling_items() / session.usual_group() * group;
  const opencl::Buffer out(session.context(), items * sizeof(double));
  const bool is_whole = number == Number::whole_number || number == Number::bytes;
  const auto seconds_of = [&](int rounds) {
    kernel.arguments(out, cl_int{rounds}, is_whole ? static_cast<float>(kWholeScale) : kScale,
                     is_whole ? static_cast<float>(kWholeAdd) : kAdd);
    return session.run(kernel, opencl::groups(items / group, group));
  };
  seconds_of(2);  // far from where the chains end up, so that each step shows
  require_result(are_right(session, out, items, number, 2), "multiply-adds", session.context());
  const int rounds = calibrate(session.effort(), seconds_of, 16, 1 << 16);
  const Spread seconds = repeat(session.effort(), [&] { return seconds_of(rounds); });
  require_result(are_right(session, out, items, number, rounds), "multiply-adds", session.context());
  const double each_step = number == Number::bytes ? 4 : peak_lanes(session.device(), number);
  return rate(seconds, 512.0 * each_step * rounds * static_cast<double>(items));
}

void measure_peaks(DeviceSession& session, Characteristics& result) {
  for (const PeakName& peak : kPeaks) {
    if (!has_numbers(session.device(), peak.number)) continue;
    result.figures.push_back(
        {peak.id, peak.title, "G/s", Clock::device, true, peak_rate(session, peak.number)});
  }
}

void measure_operations(DeviceSession& session, Characteristics& result) {
  for_each_chain([&](const auto& chain) {
    int turns = 0;
    const Spread seconds = time_chain(session, chain, turns);
    result.figures.push_back({std::string("latency.") + chain.id, chain.title, "ns", Clock::device, false,
                              each(seconds, static_cast<double>(turns) * kChainTurn, 1e-9)});
  });
}

}  // namespace sightline::characterisation
