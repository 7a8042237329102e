// Results of several runs over the same frames: the first difference is found.
#include "pipeline/measurement/same_results.hpp"

#include <gtest/gtest.h>

namespace sightline::pipeline {
namespace {

FrameResult result_with(double score) {
  FrameResult result;
  result.objects.push_back({{1, 2, 3, 4}, score});
  return result;
}

void run(SameResults& results, const std::vector<double>& scores) {
  results.restart();
  for (const double score : scores) results.accept({}, result_with(score));
}

TEST(SameResults, FindsTheFirstFrameThatDiffers) {
  SameResults results;
  run(results, {1, 2});
  run(results, {1, 2, 3});
  EXPECT_EQ(results.frames(), 3u);
  EXPECT_EQ(results.different(), "");
  run(results, {1, 2, 4});
  EXPECT_TRUE(results.different().starts_with("frame 3: ")) << results.different();
  const std::string first = results.different();
  run(results, {5});
  EXPECT_EQ(results.different(), first);
}

TEST(SameResults, ComparesFramesThatTheSourceRepeats) {
  SameResults results(2);
  run(results, {1, 2, 1, 2});
  EXPECT_EQ(results.different(), "");
  run(results, {1, 2, 2});
  EXPECT_FALSE(results.different().empty());
}

}  // namespace
}  // namespace sightline::pipeline
