// What a frame costs depends on model and options: each of them makes another key for what is remembered.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "detectors/cascade/detector.hpp"
#include "detectors/census/detector.hpp"
#include "detectors/filterbank/detector.hpp"
#include "detectors/waldboost/detector.hpp"
#include "kernels/census_model.hpp"
#include "support/cascade.hpp"
#include "support/filterbank.hpp"
#include "support/waldboost.hpp"

namespace sightline {
namespace {

template <typename Model, typename Options>
using Changes = std::vector<std::function<void(Model&, Options&)>>;

// Each change alone, and none: all keys differ, and each is that of an equal detector.
template <typename Detector, typename Model, typename Options>
void expect_keys_apart(const Model& model, const Options& options, const Changes<Model, Options>& changes) {
  const auto key = [&](int change) {
    Model own_model = model;
    Options own_options = options;
    if (change >= 0) changes[static_cast<std::size_t>(change)](own_model, own_options);
    return Detector(own_model, own_options).info().cost_key;
  };
  std::vector<std::string> keys;
  for (int change = -1; change < static_cast<int>(changes.size()); ++change) {
    keys.push_back(key(change));
    EXPECT_EQ(keys.back(), key(change)) << change;
    EXPECT_EQ(std::ranges::count(keys, keys.back()), 1) << change << ": " << keys.back();
  }
}

TEST(CostKey, Filterbank) {
  using filterbank::Model;
  using filterbank::Options;
  expect_keys_apart<filterbank::FilterbankDetector, Model, Options>(
      test::random_model(5, 3), {},
      {
          [](Model& m, Options&) { m.weights.front() = static_cast<std::int8_t>(m.weights.front() ^ 1); },
          [](Model& m, Options&) { ++m.bias; },
          [](Model& m, Options&) { m.scale *= 2; },
          [](Model& m, Options&) { ++m.epsilon; },
          [](Model& m, Options&) { m = test::random_model(5, 4); },
          [](Model&, Options& o) { o.threshold = 1e-7; },
          [](Model&, Options& o) { o.max_candidates = 7; },
          [](Model&, Options& o) { o.max_overlap = 0.1; },
      });
}

TEST(CostKey, Cascade) {
  using cascade::Model;
  using cascade::Options;
  for (const cascade::Shape& shape : cascade::kShapes) {
    expect_keys_apart<cascade::CascadeDetector, Model, Options>(
        cascade::make_model(shape), {},
        {
            [](Model& m, Options&) { m.stages.back().threshold += 1; },
            [](Model& m, Options&) { m.leaves.back() += 1; },
            [](Model&, Options& o) { o.kernels = "naive"; },
            [](Model&, Options& o) { o.threshold = 1e-7; },
            [](Model&, Options& o) { o.max_candidates = 7; },
            [](Model&, Options& o) { o.min_neighbors = 1; },
            [](Model&, Options& o) {
              o.search.min_size = {50, 60};
            },
            [](Model&, Options& o) {
              o.search.min_size = {40, 60};
            },
        });
  }
}

// Of both families that look at windows pixel by pixel, with some of their own.
template <typename Model, typename Options>
Changes<Model, Options> with_common(Changes<Model, Options> changes) {
  changes.insert(changes.end(), {
                                    [](Model& m, Options&) { m.window.width += 1; },
                                    [](Model&, Options& o) { o.kernels = "naive"; },
                                    [](Model&, Options& o) { o.threshold = 1e-7; },
                                    [](Model&, Options& o) { o.window_threshold = -1e-7; },
                                    [](Model&, Options& o) { o.max_candidates = 7; },
                                    [](Model&, Options& o) { o.max_overlap = 0.1; },
                                });
  return changes;
}

TEST(CostKey, Waldboost) {
  using waldboost::Model;
  using waldboost::Options;
  expect_keys_apart<waldboost::WaldboostDetector, Model, Options>(
      test::random_waldboost(3, 40), {},
      with_common<Model, Options>({
          [](Model& m, Options&) { ++m.responses.front(); },
          [](Model& m, Options&) { m.thresholds.back() = 5; },
          [](Model& m, Options&) { m.unit *= 2; },
          [](Model&, Options& o) { o.kernels = "queue"; },
          [](Model&, Options& o) {
            o.shares = {2, 4};
          },
      }));
}

TEST(CostKey, Census) {
  using census::Model;
  using census::Options;
  expect_keys_apart<census::CensusDetector, Model, Options>(
      census::drawn_model(3, {{4, 9, 30}, {24, 24}}), {},
      with_common<Model, Options>({
          [](Model& m, Options&) { m.weak.back().weight ^= 1; },
          [](Model& m, Options&) { m.weak.back().codes.back() ^= 1; },
          [](Model& m, Options&) { ++m.stages.back().threshold; },
          [](Model&, Options& o) { o.early_stages = 2; },
      }));
}

}  // namespace
}  // namespace sightline
