#include "detection/assignment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace sightline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

double sum_of(const std::vector<double>& costs, std::size_t columns, std::span<const int> result) {
  double sum = 0;
  for (std::size_t row = 0; row < result.size(); ++row) {
    if (result[row] >= 0) sum += costs[row * columns + static_cast<std::size_t>(result[row])];
  }
  return sum;
}

// Over all ways to give the rows (no more than the columns) different columns.
double cheapest(const std::vector<double>& costs, std::size_t rows, std::size_t columns) {
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  double best = 1e300;
  do {
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += costs[row * columns + order[row]];
    best = std::min(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

std::vector<double> transposed(const std::vector<double>& costs, std::size_t rows, std::size_t columns) {
  std::vector<double> result(costs.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = costs[r * columns + c];
  }
  return result;
}

void expect_one_to_one(std::span<const int> result, std::size_t rows, std::size_t columns) {
  ASSERT_EQ(result.size(), rows);
  std::vector<int> used;
  for (const int column : result) {
    if (column < 0) continue;
    EXPECT_LT(column, static_cast<int>(columns));
    EXPECT_EQ(std::count(used.begin(), used.end(), column), 0);
    used.push_back(column);
  }
  EXPECT_EQ(used.size(), std::min(rows, columns));
}

// Whole numbers, so that sums are exact; a small range has many ties.
class AssignmentAgainstBruteForce : public ::testing::TestWithParam<int> {};

TEST_P(AssignmentAgainstBruteForce, IsTheCheapest) {
  std::mt19937 random(7);
  Assignment assignment;
  for (std::size_t columns = 1; columns <= 7; ++columns) {
    for (std::size_t rows = 1; rows <= columns; ++rows) {
      for (int repeat = 0; repeat < 6; ++repeat) {
        std::vector<double> costs(rows * columns);
        for (double& cost : costs) cost = std::uniform_int_distribution(-GetParam(), GetParam())(random);
        const double best = cheapest(costs, rows, columns);
        const auto wide = assignment.solve(costs, rows, columns);
        expect_one_to_one(wide, rows, columns);
        EXPECT_EQ(sum_of(costs, columns, wide), best) << rows << "x" << columns;
        const auto tall_costs = transposed(costs, rows, columns);
        const auto tall = assignment.solve(tall_costs, columns, rows);
        expect_one_to_one(tall, columns, rows);
        EXPECT_EQ(sum_of(tall_costs, rows, tall), best) << columns << "x" << rows;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranges, AssignmentAgainstBruteForce, ::testing::Values(2, 4, 1000));

TEST(Assignment, TheGreedyChoiceIsNotTheBest) {
  // Row 0 likes column 0 best, but only row 1 cannot do without it.
  const std::vector<double> costs{1, 2, 1, 9};
  EXPECT_THAT(Assignment().solve(costs, 2, 2), ElementsAre(1, 0));
}

TEST(Assignment, TiesGoToTheLowestIndex) {
  EXPECT_THAT(Assignment().solve(std::vector<double>(9, 3.0), 3, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(Assignment().solve(std::vector<double>(6, 0.0), 2, 3), ElementsAre(0, 1));
  EXPECT_THAT(Assignment().solve(std::vector<double>(6, 0.0), 3, 2), ElementsAre(0, 1, -1));
  const std::vector<double> costs{5, 1, 1, 5, 5, 5};
  EXPECT_THAT(Assignment().solve(costs, 2, 3), ElementsAre(1, 0));
}

TEST(Assignment, NothingToAssign) {
  EXPECT_THAT(Assignment().solve({}, 0, 0), IsEmpty());
  EXPECT_THAT(Assignment().solve({}, 0, 4), IsEmpty());
  EXPECT_THAT(Assignment().solve({}, 2, 0), ElementsAre(-1, -1));
}

TEST(Assignment, EarlierProblemsLeaveNoTrace) {
  Assignment used;
  used.solve(std::vector<double>{4, 1, 3, 2, 0, 5, 3, 2, 2}, 3, 3);
  const std::vector<double> costs{1, 2, 1, 9};
  EXPECT_THAT(used.solve(costs, 2, 2), ElementsAre(1, 0));
  EXPECT_THROW(used.solve(costs, 2, 3), std::invalid_argument);
}

}  // namespace
}  // namespace sightline
