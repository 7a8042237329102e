// Levels of caches, knees and periods are read off made-up curves, clean and disturbed.
#include "characterisation/knees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "characterisation/cycle.hpp"

namespace sightline::characterisation {
namespace {

struct MadeUpLevel {
  double bytes;
  double ns;
};

constexpr double kKiB = 1024, kMiB = 1024 * 1024;

// Latencies of a memory with these caches: an array beyond a cache is read from the next one but for the
// share that the cache still holds (random replacement), or at once (`is_sharp`: least recently used).
std::vector<Sample> made_up(const std::vector<MadeUpLevel>& caches, double memory_ns, bool is_sharp,
                            double most = 128 * kMiB) {
  std::vector<Sample> curve;
  for (const std::size_t bytes : array_sizes(2048, static_cast<std::size_t>(most), false)) {
    double ns = memory_ns;
    for (std::size_t i = caches.size(); i-- > 0;) {
      const double share = caches[i].bytes / static_cast<double>(bytes);
      if (share >= 1) {
        ns = caches[i].ns;
      } else if (!is_sharp) {
        const double held = std::pow(share, 3);  // of the few reads that still hit
        ns = held * caches[i].ns + (1 - held) * ns;
      }
    }
    curve.push_back({static_cast<double>(bytes), ns});
  }
  return curve;
}

// Each latency up to `share` larger, and now and then one twice as large: another program ran. Not two in a
// row: of several repeats, the best counts.
void disturb(std::vector<Sample>& curve, double share, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  bool was_doubled = false;
  for (Sample& one : curve) {
    one.y *= 1 + share * uniform();
    was_doubled = !was_doubled && uniform() < 0.08;
    if (was_doubled) one.y *= 2;
  }
}

void expect_levels(const std::vector<MadeUpLevel>& caches, double memory_ns, const std::vector<Sample>& curve,
                   double tolerance, const std::string& what) {
  SCOPED_TRACE(what);
  const MemoryLevels found = find_levels(curve);
  ASSERT_EQ(found.caches.size(), caches.size());
  for (std::size_t i = 0; i < caches.size(); ++i) {
    // Within one step of the sizes that were measured.
    EXPECT_GE(found.caches[i].bytes, caches[i].bytes / 1.51);
    EXPECT_LE(found.caches[i].bytes, caches[i].bytes * 1.51);
    EXPECT_NEAR(found.caches[i].ns, caches[i].ns, tolerance * caches[i].ns);
  }
  EXPECT_NEAR(found.memory_ns, memory_ns, tolerance * memory_ns);
}

const std::vector<MadeUpLevel> kCpu{{48 * kKiB, 1}, {1 * kMiB, 4}, {32 * kMiB, 15}};
const std::vector<MadeUpLevel> kGpu{{192 * kKiB, 22}, {24 * kMiB, 150}};
const std::vector<MadeUpLevel> kPhone{{16 * kKiB, 100}, {128 * kKiB, 200}};

TEST(Knees, LevelsOfCachesAreFound) {
  for (const bool is_sharp : {true, false}) {
    expect_levels(kCpu, 100, made_up(kCpu, 100, is_sharp), 0.1, "CPU");
    expect_levels(kGpu, 450, made_up(kGpu, 450, is_sharp), 0.1, "GPU");
    expect_levels(kPhone, 446, made_up(kPhone, 446, is_sharp, 8 * kMiB), 0.1, "phone");
  }
  const std::vector<Sample> exact = made_up(kCpu, 100, true);
  const MemoryLevels found = find_levels(exact);
  ASSERT_EQ(found.caches.size(), 3U);
  EXPECT_EQ(found.caches[0], (CacheLevel{48 * kKiB, 1}));
  EXPECT_EQ(found.caches[1], (CacheLevel{1 * kMiB, 4}));
  EXPECT_EQ(found.caches[2], (CacheLevel{32 * kMiB, 15}));
  EXPECT_EQ(found.memory_ns, 100);
}

TEST(Knees, DisturbancesChangeNothing) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    for (const bool is_sharp : {true, false}) {
      std::vector<Sample> curve = made_up(kCpu, 100, is_sharp);
      disturb(curve, 0.1, seed);
      expect_levels(kCpu, 100, curve, 0.15, "seed " + std::to_string(seed));
    }
  }
}

TEST(Knees, CurvesWithoutRisesOrEnds) {
  EXPECT_TRUE(find_levels({}).caches.empty());
  EXPECT_EQ(find_levels({}).memory_ns, 0);
  const MemoryLevels flat = find_levels(made_up({}, 80, true));
  EXPECT_TRUE(flat.caches.empty());
  EXPECT_EQ(flat.memory_ns, 80);
  // The last cache's end was seen, but not where memory becomes flat.
  const std::vector<Sample> rising{{1024, 1},  {2048, 1},  {4096, 1},  {8192, 2},
                                   {16384, 4}, {32768, 8}, {65536, 12}};
  const MemoryLevels open = find_levels(rising);
  ASSERT_EQ(open.caches.size(), 1U);
  EXPECT_EQ(open.caches[0], (CacheLevel{4096, 1}));
  EXPECT_EQ(open.memory_ns, 8) << "the last size alone decides nothing";
  // A slow rise is no level of its own: translating addresses.
  std::vector<Sample> slow;
  for (double bytes = 1024, ns = 10; bytes < 1e8; bytes *= 2, ns *= 1.04) slow.push_back({bytes, ns});
  EXPECT_TRUE(find_levels(slow).caches.empty());
}

TEST(Knees, WhereTimesLeaveTheirFirstLevel) {
  const std::vector<Sample> stairs{{1, 10}, {32, 10.2}, {64, 10.5}, {96, 10.9}, {128, 20}, {160, 10.1}};
  EXPECT_EQ(last_flat(stairs, 0.1), 96);
  EXPECT_EQ(last_flat(stairs, 0.03), 32);
  EXPECT_EQ(last_flat({}, 0.1), 0);
}

TEST(Knees, WhereRatesAreFull) {
  const std::vector<Sample> rates{{1, 5}, {32, 80}, {64, 96}, {128, 100}, {256, 90}};
  EXPECT_EQ(first_full(rates, 0.95), 64);
  EXPECT_EQ(first_full(rates, 1), 128);
  EXPECT_EQ(first_full({}, 0.95), 0);
}

TEST(Knees, PeriodsOfShifts) {
  const auto shifts = [](int period, double dip) {
    std::vector<Sample> rates;
    for (int s = 0; s <= 32; ++s)
      rates.push_back({static_cast<double>(s), (s % period == 0 ? 100.0 : 100 - dip) + s % 3 * 0.2});
    return rates;
  };
  EXPECT_EQ(shift_period(shifts(8, 20)), 8);
  EXPECT_EQ(shift_period(shifts(16, 10)), 16);
  EXPECT_EQ(shift_period(shifts(32, 10)), 32);
  EXPECT_EQ(shift_period(shifts(8, 0)), 0);
  EXPECT_EQ(shift_period(shifts(8, 2)), 0) << "as much as noise";
}

TEST(Knees, BanksOfLocalMemory) {
  const auto of = [](int banks) {
    std::vector<Sample> curve;
    for (int stride = 0; stride <= 64; ++stride) {
      int ways = 1;
      while (ways < banks && stride > 0 && stride % (2 * ways) == 0) ways *= 2;
      curve.push_back({static_cast<double>(stride), stride == 0 ? 1.0 : 1.0 + 0.5 * (ways - 1)});
    }
    return curve;
  };
  EXPECT_EQ(bank_count(of(32)), 32);
  EXPECT_EQ(bank_count(of(16)), 16);
  EXPECT_EQ(bank_count(of(1)), 0);
}

TEST(RandomCycle, GoesThroughEveryLineOnce) {
  for (const std::size_t bytes :
       {std::size_t{64}, std::size_t{192}, std::size_t{64} << 10, std::size_t{200} << 10}) {
    const Cycle cycle = random_cycle(bytes);
    ASSERT_EQ(cycle.order.size(), bytes / kLine);
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < cycle.order.size(); ++i) {
      ASSERT_EQ(at, cycle.after(i));
      at = cycle.next[at];
    }
    EXPECT_EQ(at, 0U) << "and comes back";
    std::vector<std::uint32_t> lines = cycle.order;
    std::ranges::sort(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], i * kLine / 4);
  }
  // Not in order: hardly any line is followed by the next one.
  const Cycle cycle = random_cycle(std::size_t{1} << 20);
  int in_order = 0;
  for (const std::uint32_t at : cycle.order) in_order += cycle.next[at] == at + 16 ? 1 : 0;
  EXPECT_LT(in_order, 100);
}

TEST(ArraySizes, RiseByQuartersOrHalves) {
  EXPECT_EQ(array_sizes(4096, 16384, false), (std::vector<std::size_t>{4096, 6144, 8192, 12288, 16384}));
  EXPECT_EQ(array_sizes(4096, 8192, true), (std::vector<std::size_t>{4096, 5120, 6144, 7168, 8192}));
}

}  // namespace
}  // namespace sightline::characterisation
