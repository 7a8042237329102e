// The CPU's memory: a chain of reads, copies.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/parallel.hpp"
#include "characterisation/chains.hpp"
#include "characterisation/cycle.hpp"
#include "characterisation/host_benchmarks.hpp"
#include "characterisation/latency_curve.hpp"

namespace sightline::characterisation {
namespace {

struct FreeWords {
  void operator()(std::uint32_t* words) const { std::free(words); }
};
using HostWords = std::unique_ptr<std::uint32_t, FreeWords>;

// Uses large pages if available, to exclude the cost of address translation.
HostWords host_words(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= kLargePage ? kLargePage : 4096;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  HostWords words(static_cast<std::uint32_t*>(std::aligned_alloc(alignment, whole)));
  if (!words) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (bytes >= kLargePage) madvise(words.get(), whole, MADV_HUGEPAGE);
#endif
  return words;
}

void require_host_result(bool is_right, const char* what) {
  if (!is_right)
    throw Error(ExitCode::failed, std::string(what) + " gave a wrong result on the CPU", "check its memory");
}

// Takes 128 steps per turn from a word on.
std::uint32_t walk(const std::uint32_t* next, std::uint32_t at, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 128
    for (int i = 0; i < 128; ++i) at = next[at];
  }
  return at;
}

// The work in as many parts as there are threads.
template <typename Work>
void in_parts(std::size_t words, const Work& work) {
  const auto parts = static_cast<std::size_t>(hardware_threads());
  parallel_for_isolated(parts,
                        [&](std::size_t part) { work(words * part / parts, words * (part + 1) / parts); });
}

template <typename Work>
Spread host_repeat(const Effort& effort, const Work& work) {
  return repeat(effort, [&] { return host_seconds(work); });
}

Curve memory_copies(const Effort& effort, std::size_t most) {
  Curve curve{"transfer.memory",
              "Transfers between host and device",
              "memory to memory",
              "size, bytes",
              "GB/s",
              Clock::host,
              true,
              {}};
  const HostWords from = host_words(most), to = host_words(most);
  std::memset(from.get(), 1, most);
  std::memset(to.get(), 2, most);
  for (std::size_t bytes = 4096; bytes <= most; bytes *= effort.of(32, 8, 2)) {
    // Small ones several times: they are shorter than the clock can tell.
    const std::size_t times = std::max<std::size_t>((std::size_t{1} << 20) / bytes, 1);
    const Spread seconds = host_repeat(effort, [&] {
      for (std::size_t i = 0; i < times; ++i) {
        std::memcpy(to.get(), from.get(), bytes);
        asm volatile("" : : "r"(to.get()) : "memory");
      }
    });
    require_host_result(std::memcmp(to.get(), from.get(), bytes) == 0, "a copy");
    curve.points.push_back(
        {static_cast<double>(bytes), rate(seconds, static_cast<double>(bytes) * static_cast<double>(times))});
  }
  return curve;
}

Curve host_places(const Effort& effort, const std::uint32_t* from, std::uint32_t* to, std::size_t words,
                  bool by_stride) {
  Curve curve{by_stride ? "stride.host" : "shift.host",
              by_stride ? "Strided reads: B[i] = A[i s]" : "Shifted reads: B[i] = A[i + s]",
              "the CPU's threads",
              std::string(by_stride ? "stride" : "shift") + " s, words of 4 bytes",
              "GB/s",
              Clock::host,
              true,
              {}};
  const std::size_t items = by_stride ? words / 16 : words - 32;
  for (std::size_t s = by_stride ? 1 : 0; s <= (by_stride ? 16U : 32U);
       s += effort.is_thorough() || by_stride ? 1 : 4) {
    const Spread seconds = host_repeat(effort, [&] {
      in_parts(items, [&](std::size_t begin, std::size_t end) {
        if (by_stride) {
          for (std::size_t i = begin; i < end; ++i) to[i] = from[i * s];
        } else {
          for (std::size_t i = begin; i < end; ++i) to[i] = from[i + s];
        }
      });
    });
    for (const std::size_t i : {std::size_t{0}, items / 2 + 1, items - 1})
      require_host_result(to[i] == from[by_stride ? i * s : i + s], "a copy");
    curve.points.push_back({static_cast<double>(s), rate(seconds, 8.0 * static_cast<double>(items))});
  }
  return curve;
}

// Adds the ns a read takes in an array of this size, several times.
void time_walks(const Effort& effort, std::uint32_t* words, std::size_t bytes, std::vector<double>& ns) {
  const Cycle cycle = random_cycle(bytes);
  std::memcpy(words, cycle.next.data(), bytes);
  std::uint64_t steps = 0;
  std::uint32_t at = 0;
  const auto seconds_of = [&](int turns) {
    keep(at);
    const double seconds =
        host_seconds([&] { at = walk(words, at, static_cast<std::uint64_t>(turns)), keep(at); });
    steps += static_cast<std::uint64_t>(turns) * 128;
    return seconds;
  };
  const double limit = effort.of(0.005, 0.1, 2.0);
  for (double passed = 0; steps < cycle.order.size() && passed < limit;) passed += seconds_of(64);
  const int turns = calibrate(effort, seconds_of, 16, 1 << 20);
  for (const double seconds : repeats_of(effort, [&] { return seconds_of(turns); }))
    ns.push_back(1e9 * seconds / (turns * 128.0));
  require_host_result(at == cycle.after(steps), "a chain of reads");
}

}  // namespace

void measure_host_latency(const Effort& whole, Characteristics& result) {
  const Effort effort = whole.of_curve();
  const std::size_t most = std::size_t{effort.of(1U, 128U, 512U)} << 20;
  const HostWords words = host_words(most);
  measure_latency_curve(
      effort, "one thread", Clock::host, most,
      [&](std::size_t bytes, std::vector<double>& ns) { time_walks(effort, words.get(), bytes, ns); },
      result);
}

void measure_host_memory(const Effort& effort, Characteristics& result) {
  result.curves.push_back(memory_copies(effort, std::size_t{effort.is_brief() ? 4U : 128U} << 20));
  const std::size_t bytes = std::size_t{effort.of(1U, 64U, 256U)} << 20;
  const std::size_t words = bytes / 4;
  const HostWords from = host_words(bytes), to = host_words(bytes);
  for (std::size_t i = 0; i < words; ++i) from.get()[i] = static_cast<std::uint32_t>(i);
  std::memset(to.get(), 0, bytes);
  const Spread copy = host_repeat(effort, [&] {
    in_parts(words, [&](std::size_t begin, std::size_t end) {
      std::memcpy(to.get() + begin, from.get() + begin, 4 * (end - begin));
    });
  });
  require_host_result(std::memcmp(to.get(), from.get(), bytes) == 0, "a copy");
  result.figures.push_back({"copy.threads", "copy in memory, by all threads", "GB/s", Clock::host, true,
                            rate(copy, 2.0 * static_cast<double>(bytes))});
  for (const bool by_stride : {false, true})
    result.curves.push_back(host_places(effort, from.get(), to.get(), words, by_stride));
}

}  // namespace sightline::characterisation
