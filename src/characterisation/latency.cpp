// Chains of reads on a device: global memory with its caches, local memory and its banks.
#include "characterisation/benchmarks.hpp"
#include "characterisation/cycle.hpp"
#include "characterisation/latency_curve.hpp"
#include "characterisation/programs.hpp"

namespace sightline::characterisation {
namespace {

constexpr int kTurn = 128;         // reads a turn of `chase`
constexpr int kLocalTurn = 256;    // reads per turn of `chase_local`
constexpr int kBankTurn = 16 * 8;  // reads per turn and work-item of `banks`
constexpr std::size_t kLocalWords = 4096;
// GPUs empty their units' caches when a kernel begins: in arrays that may fit one, the first way through the
// chain must not count for much.
constexpr std::size_t kLargestOfUnit = std::size_t{512} << 10;  // bytes
constexpr std::size_t kWays = 32;

// A chain through one array, continued from launch to launch.
class Chase {
 public:
  Chase(DeviceSession& session, std::size_t bytes)
      : session_(session),
        cycle_(random_cycle(bytes)),
        next_(session.words(cycle_.next)),
        end_(session.context(), 4),
        kernel_(session.kernel(kLatencyProgram, "chase")) {}

  // Device seconds of `turns` turns.
  double run(int turns) {
    kernel_.arguments(next_, cl_uint{cycle_.after(steps_)}, cl_int{turns}, end_);
    const double seconds = session_.run(kernel_, {{1, 1, 1}, {1, 1, 1}});
    steps_ += static_cast<std::uint64_t>(turns) * kTurn;
    return seconds;
  }

  // Warms the caches: shared caches through all work-items, private ones through one pass of the chain if
  // that takes at most `limit` seconds. Larger arrays fit no private cache.
  void warm_up(double limit) {
    const std::size_t items = session_.filling_items();
    const std::size_t group = session_.usual_group();
    const opencl::Buffer sums(session_.context(), items * 4);
    const opencl::Buffer order = session_.words(cycle_.order);
    opencl::Kernel touch = session_.kernel(kLatencyProgram, "touch");
    touch.arguments(next_, order, static_cast<cl_uint>(cycle_.order.size()), sums);
    session_.run(touch, opencl::groups(items / group, group));
    constexpr int kStretch = 64;
    const double stretch = run(kStretch);
    const double stretches = static_cast<double>(cycle_.order.size()) / (kStretch * kTurn);
    if (stretch * stretches > limit) return;
    while (steps_ < cycle_.order.size()) run(kStretch);
  }

  // Turns for `ways` passes through the whole chain.
  int turns_of(std::size_t ways) const {
    return static_cast<int>((ways * cycle_.order.size() + kTurn - 1) / kTurn);
  }

  void check() {
    require_result(session_.read(end_, 1)[0] == cycle_.after(steps_), "a chain of reads", session_.context());
  }

 private:
  DeviceSession& session_;
  Cycle cycle_;
  opencl::Buffer next_;
  opencl::Buffer end_;
  opencl::Kernel kernel_;
  std::uint64_t steps_ = 0;
};

std::size_t largest_array(const DeviceSession& session) {
  const opencl::DeviceInfo& device = session.device();
  const std::size_t wanted = std::size_t{session.effort().of(1U, 128U, 512U)} << 20;
  return std::min<std::size_t>({wanted, device.largest_buffer_bytes, device.memory_bytes / 8});
}

// Time of a kernel's loop on local memory, without the time to fill that memory (a run with 0 turns).
template <typename SecondsOf>
Spread without_filling(const Effort& effort, const SecondsOf& seconds_of, int turns) {
  const double filling = repeat(effort, [&] { return seconds_of(0); }).median;
  const Spread all = repeat(effort, [&] { return seconds_of(turns); });
  const auto rest = [&](double seconds) { return std::max(seconds - filling, 0.0); };
  return {rest(all.smallest), rest(all.median), rest(all.largest)};
}

// Each word says the one `stride` further on.
std::vector<std::uint32_t> ring_of(std::size_t stride) {
  std::vector<std::uint32_t> ring(kLocalWords);
  for (std::size_t i = 0; i < kLocalWords; ++i)
    ring[i] = static_cast<std::uint32_t>((i + stride) % kLocalWords);
  return ring;
}

std::vector<int> strides(bool thorough) {
  std::vector<int> all;
  for (int stride = 0; stride < 256; ++stride) {
    const bool is_telling = stride <= 4 || stride == 255 || (stride & (stride - 1)) == 0;
    if (thorough ? stride <= 64 || stride % 8 == 0 || stride == 255 : is_telling) all.push_back(stride);
  }
  return all;
}

std::vector<int> bank_offsets(bool thorough, int most) {
  std::vector<int> all;
  for (int offset = 0; offset <= most; ++offset) {
    const bool is_near_power = offset <= 4 || ((offset & (offset - 1)) == 0) || offset % 16 == 0 ||
                               offset == 31 || offset == 33 || offset == 24;
    if (thorough || is_near_power) all.push_back(offset);
  }
  return all;
}

Curve local_chain(DeviceSession& session) {
  Curve curve{"latency.local",
              "Reads of local memory in a chain",
              "one work-item",
              "stride, words of 4 bytes",
              "ns",
              Clock::device,
              false,
              {}};
  const opencl::Buffer end(session.context(), 4);
  opencl::Kernel kernel = session.kernel(kLatencyProgram, "chase_local");
  int turns = 0;
  const Effort effort = session.effort().of_curve();
  for (const int stride : strides(effort.is_thorough())) {
    const opencl::Buffer ring = session.words(ring_of(stride));
    const auto seconds_of = [&](int count) {
      kernel.arguments(ring, cl_int{count}, end);
      return session.run(kernel, {{1, 1, 1}, {1, 1, 1}});
    };
    if (turns == 0) turns = calibrate(effort, seconds_of, 8, 1 << 16);
    const Spread seconds = without_filling(effort, seconds_of, turns);
    const std::uint64_t steps = static_cast<std::uint64_t>(turns) * kLocalTurn;
    require_result(session.read(end, 1)[0] == steps * stride % kLocalWords, "a chain in local memory",
                   session.context());
    curve.points.push_back({static_cast<double>(stride), each(seconds, static_cast<double>(steps), 1e-9)});
  }
  return curve;
}

// `items` work-items that each read words `offset` beyond the neighbour's.
Curve bank_curve(DeviceSession& session, std::size_t items, int most) {
  const bool is_pair = items == 2;
  Curve curve{is_pair ? "banks.two" : "banks.sub_group",
              is_pair ? "Banks of local memory: two work-items" : "Banks of local memory: a sub-group",
              is_pair ? "two work-items" : std::to_string(items) + " work-items",
              "words between neighbours",
              "ns",
              Clock::device,
              false,
              {}};
  const opencl::Buffer ring = session.words(ring_of(0));
  const opencl::Buffer end(session.context(), items * 4);
  opencl::Kernel kernel = session.kernel(kLatencyProgram, "banks");
  int turns = 0;
  const Effort effort = session.effort().of_curve();
  for (const int offset : bank_offsets(effort.is_thorough(), most)) {
    const auto seconds_of = [&](int count) {
      kernel.arguments(ring, cl_int{count}, static_cast<cl_uint>(offset), end);
      return session.run(kernel, opencl::groups(1, items));
    };
    if (turns == 0) turns = calibrate(effort, seconds_of, 8, 1 << 16);
    const Spread seconds = without_filling(effort, seconds_of, turns);
    const std::vector<std::uint32_t> sums = session.read(end, items);
    for (std::size_t item = 0; item < items; ++item) {
      std::uint32_t expected = 0;
      for (std::size_t chain = 0; chain < 8; ++chain)
        expected += static_cast<std::uint32_t>((item * offset + chain) % kLocalWords);
      require_result(sums[item] == expected, "reads of banks", session.context());
    }
    curve.points.push_back(
        {static_cast<double>(offset), each(seconds, static_cast<double>(turns) * kBankTurn, 1e-9)});
  }
  return curve;
}

}  // namespace

void measure_latency(DeviceSession& session, Characteristics& result) {
  const Effort effort = session.effort().of_curve();
  const auto time_reads = [&](std::size_t bytes, std::vector<double>& ns) {
    Chase chase(session, bytes);
    chase.warm_up(effort.of(0.005, 0.1, 2.0));
    const int fewest = bytes <= kLargestOfUnit ? chase.turns_of(kWays) : 1;
    const int turns = std::max(fewest, calibrate(
                                           effort, [&](int count) { return chase.run(count); }, 16, 1 << 18));
    for (const double seconds : repeats_of(effort, [&] { return chase.run(turns); }))
      ns.push_back(1e9 * seconds / (static_cast<double>(turns) * kTurn));
    chase.check();
  };
  measure_latency_curve(effort, "one work-item", Clock::device, largest_array(session), time_reads, result);
}

void measure_local_memory(DeviceSession& session, Characteristics& result) {
  result.curves.push_back(local_chain(session));
  result.curves.push_back(bank_curve(session, 2, 256));
  const double sub_group = result.figure("sub_group");
  const auto items = static_cast<std::size_t>(std::clamp(sub_group, 8.0, 64.0));
  result.curves.push_back(bank_curve(session, items, 64));
}

}  // namespace sightline::characterisation
