// The search for the nearest templates in SIMD, against its definition.
#include "kernels/recognition_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <memory>

#include "faces/recognition/search_kernels.hpp"
#include "support/errors.hpp"

namespace sightline::recognition {
namespace {

using test::Numbers;
using testing::ElementsAre;
using testing::HasSubstr;

KERNEL_TEST_SUITE(RecognitionSearch);

TEST(ChiSquare, IsTheFormulaToTheNearestQuarter) {
  EXPECT_EQ(chi_square_term(0, 0), 0U);
  EXPECT_EQ(chi_square_term(0, 7), 28U);
  EXPECT_EQ(chi_square_term(3, 5), 2U);     // 4 / 8
  EXPECT_EQ(chi_square_term(1, 2), 1U);     // 1 / 3
  EXPECT_EQ(chi_square_term(1, 31), 113U);  // 900 / 32 = 28.125, half way between two quarters
  for (std::uint32_t a = 0; a < 256; ++a) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      EXPECT_EQ(chi_square_term(a, b), chi_square_term(b, a));
      if (a == 0) continue;
      ASSERT_EQ(chi_square_rest(a, b) + 4 * b, chi_square_term(a, b) + 12 * a) << a << ", " << b;
    }
  }
}

// A dimension for each count that the query may have, with every count against it.
TEST_P(RecognitionSearch, AllPairsOfBytes) {
  TemplateSet set({Kind::counts8, 256, {}});
  for (int i = 0; i < 256; ++i) set.append(std::vector<std::uint8_t>(256, static_cast<std::uint8_t>(i)));
  QueryPlan plan;
  for (std::uint32_t a = 1; a < 256; ++a) {
    std::vector<std::uint8_t> query(256);
    query[a] = static_cast<std::uint8_t>(a);
    plan.make(set.format(), query);
    for (std::size_t block = 0; block < set.blocks(); ++block) {
      std::vector<std::uint32_t> rests(TemplateSet::kBlock, 1000);
      add_rests8(set.block(block), plan, rests.data());
      for (std::uint32_t i = 0; i < TemplateSet::kBlock; ++i) {
        const auto b = static_cast<std::uint32_t>(block * TemplateSet::kBlock + i);
        ASSERT_EQ(rests[i], 1000 + chi_square_rest(a, b)) << a << ", " << b;
      }
    }
  }
}

TEST_P(RecognitionSearch, LargeCountsAndTheirMiddles) {
  Numbers numbers(7);
  QueryPlan plan;
  plan.runs = {{1, false, 1}};
  std::vector<std::uint16_t> row(TemplateSet::kBlock);
  const auto one_of = [&](int low, int high) { return numbers(0, 3) == 0 ? high : numbers(low, high); };
  for (int trial = 0; trial < 20000; ++trial) {
    const int a = one_of(1, trial % 2 == 0 ? 40 : kLargestCount);
    for (std::uint16_t& b : row)
      b = static_cast<std::uint16_t>(one_of(0, trial % 3 == 0 ? 40 : kLargestCount));
    // (a + b) that divides 32 a^2 an odd number of times: half-way between two integers.
    for (int b = 0; b < 40; ++b) {
      const std::int64_t sum = a + b;
      if (32LL * a * a % sum == 0 && 32LL * a * a / sum % 2 == 1) row[0] = static_cast<std::uint16_t>(b);
    }
    plan.active = {{0, a}};
    std::vector<std::uint32_t> rests(TemplateSet::kBlock);
    add_rests16(reinterpret_cast<const std::uint8_t*>(row.data()), plan, rests.data());
    for (std::size_t i = 0; i < row.size(); ++i) {
      ASSERT_EQ(rests[i], chi_square_rest(static_cast<std::uint32_t>(a), row[i])) << a << ", " << row[i];
    }
  }
}

TEST_P(RecognitionSearch, AwkwardSizes) {
  Numbers numbers(1);
  for (const Kind kind : kKinds) {
    for (const int dims : {1, 2, 3, 4, 5, 59, 130}) {
      for (const std::size_t size : {0, 1, 2, 63, 64, 65, 129, 300}) {
        const TemplateFormat format = some_format(kind, dims, numbers);
        const TemplateSet set = some_set(format, size, numbers);
        const std::vector<std::uint8_t> queries = some_templates(format, 3, numbers);
        for (const int k : {1, 5, kMostNearest}) {
          SCOPED_TRACE(std::to_string(size) + " of " + std::to_string(dims) + ", kind " +
                       std::to_string(static_cast<int>(kind)) + ", k " + std::to_string(k));
          EXPECT_EQ(first_difference(reference::nearest(set, queries, k), nearest(set, queries, k)), "");
        }
      }
    }
  }
}

TEST_P(RecognitionSearch, LargestDistances) {
  for (const Kind kind : kKinds) {
    TemplateFormat format{kind, kLargestDims, {}};
    if (kind == Kind::counts8) format.weights.assign(kLargestDims, 64);
    TemplateSet set(format);
    std::vector<std::uint8_t> high(bytes_per_template(format), 0xFF), low(high.size(), 0);
    if (kind == Kind::vector8) {
      std::fill(high.begin(), high.end(), std::uint8_t{0x7F});
      std::fill(low.begin(), low.end(), std::uint8_t{0x80});
    } else if (kind == Kind::counts16) {
      for (std::size_t i = 0; i < high.size(); i += 2) {
        high[i] = kLargestCount % 256;
        high[i + 1] = kLargestCount / 256;
      }
    }
    set.append(high);
    set.append(low);
    for (const auto& query : {high, low})
      EXPECT_EQ(first_difference(reference::nearest(set, query, 2), nearest(set, query, 2)), "");
  }
}

// Whatever the number of threads; more blocks than parts of a search.
TEST_P(RecognitionSearch, TiesGoToTheLowestIndex) {
  Numbers numbers(3);
  const TemplateFormat format = some_format(Kind::counts8, 3, numbers);
  const std::vector<std::uint8_t> known = some_template(format, numbers), other{9, 9, 9};
  TemplateSet set(format);
  for (int i = 0; i < 5000; ++i) set.append(i % 1000 == 777 ? known : other);
  for (const int threads : {1, 2, 7}) {
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] {
      const Matches matches = nearest(set, known, 6);
      std::vector<std::uint32_t> indices;
      for (const Match& match : matches.of(0)) indices.push_back(match.index);
      EXPECT_THAT(indices, ElementsAre(777, 1777, 2777, 3777, 4777, 0));
      EXPECT_EQ(matches.of(0)[4].distance, 0U);
    });
  }
}

TEST(TemplateSet, ChangesAsAListDoes) {
  Numbers numbers(5);
  for (const Kind kind : kKinds) {
    const TemplateFormat format = some_format(kind, 7, numbers);
    TemplateSet set(format);
    std::vector<std::vector<std::uint8_t>> list;
    for (int step = 0; step < 600; ++step) {
      const int what = numbers(0, step < 300 ? 3 : 9);
      if (list.empty() || what < 3) {
        list.push_back(some_template(format, numbers));
        set.append(list.back());
      } else if (const auto index = static_cast<std::size_t>(numbers(0, static_cast<int>(list.size()) - 1));
                 what == 3) {
        list[index] = some_template(format, numbers);
        set.replace(index, list[index]);
      } else {
        list[index] = list.back();
        list.pop_back();
        set.remove(index);
      }
      ASSERT_EQ(set.size(), list.size());
    }
    TemplateSet same(format);
    for (const auto& bytes : list) same.append(bytes);
    ASSERT_EQ(set.blocks(), same.blocks());
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(set.bytes(i), list[i]);
    for (std::size_t b = 0; b < set.blocks(); ++b) {
      EXPECT_EQ(test::first_difference(same.block(b), set.block(b), set.block_bytes()), "");
      EXPECT_EQ(test::first_difference(same.sums(b), set.sums(b), TemplateSet::kBlock), "");
    }
    set.clear();
    EXPECT_EQ(set.size(), 0U);
    EXPECT_TRUE(nearest(set, list.front(), 3).all.empty());
  }
}

TEST(TemplateSet, ABlocksVersionSaysWhetherACopyIsGood) {
  TemplateSet set({Kind::vector8, 4, {}});
  const std::vector<std::uint8_t> bytes(4);
  for (int i = 0; i < 65; ++i) set.append(bytes);
  const std::uint64_t first = set.version(0), second = set.version(1);
  set.replace(3, bytes);
  EXPECT_NE(set.version(0), first);
  EXPECT_EQ(set.version(1), second);
  set.remove(64);
  set.append(bytes);
  EXPECT_NE(set.version(1), second);
}

TEST(TemplateSet, RefusesWhatItCannotSearch) {
  const auto message = [](const TemplateFormat& format) {
    return test::error_of(ExitCode::model, [&] { TemplateSet{format}; });
  };
  EXPECT_THAT(message({Kind::counts8, 0, {}}), HasSubstr("0 values"));
  EXPECT_THAT(message({Kind::counts8, kLargestDims + 1, {}}), HasSubstr("65537 values"));
  EXPECT_THAT(message({Kind::counts8, 2, {1}}), HasSubstr("1 weights for 2"));
  EXPECT_NE(message({Kind::vector8, 1, {1}}), "");
  EXPECT_NE(message({Kind::counts8, 65'536, std::vector<std::uint8_t>(65'536, 255)}), "");
  TemplateSet set({Kind::counts16, 2, {}});
  test::expect_error(ExitCode::model, "3 bytes", [&] { set.append(std::vector<std::uint8_t>(3)); });
  const std::vector<std::uint8_t> too_large{0, 0, 0xFF, 0xFF};
  test::expect_error(ExitCode::model, "11585", [&] { set.append(too_large); });
  test::expect_error(ExitCode::model, "5 bytes", [&] { nearest(set, std::vector<std::uint8_t>(5), 1); });
  EXPECT_EQ(set.size(), 0U);
}

}  // namespace
}  // namespace sightline::recognition
