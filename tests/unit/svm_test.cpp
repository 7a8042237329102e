// The support vector machine against LIBLINEAR, which solves the same problem.
#include "detectors/filterbank/training/svm.hpp"

#include <gtest/gtest.h>
#include <linear.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "detectors/filterbank/training/training.hpp"

namespace sightline::filterbank {
namespace {

constexpr double kFeatureScale = 0.1 / 255;

// Windows with few features other than 0; those of one class have larger ones at the front, so that the
// classes overlap less the more `apart` is.
Samples make_samples(int count, std::size_t features, int apart, unsigned seed) {
  std::mt19937 random(seed);
  Samples samples;
  samples.features = features;
  samples.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t f = 0; f < features; ++f) {
      const int most = f < features / 4 ? 150 + apart : 150;
      samples[i][f] =
          static_cast<std::uint8_t>(random() % 3 == 0 ? random() % static_cast<unsigned>(most) : 0);
    }
  }
  return samples;
}

double score(const Separator& separator, const std::uint8_t* features) {
  double sum = separator.bias;
  for (std::size_t f = 0; f < separator.weights.size(); ++f)
    sum += separator.weights[f] * features[f] * kFeatureScale;
  return sum;
}

// What both solvers minimise.
double objective(const Separator& separator, const Samples& positives, const Samples& negatives,
                 double cost) {
  double value = separator.bias * separator.bias / 2;
  for (const double w : separator.weights) value += w * w / 2;
  for (const auto& [samples, label] : {std::pair(&positives, 1.0), std::pair(&negatives, -1.0)}) {
    for (std::size_t i = 0; i < samples->size(); ++i) {
      const double loss = std::max(0.0, 1 - label * score(separator, (*samples)[i]));
      value += cost * loss * loss;
    }
  }
  return value;
}

Separator train_with_liblinear(const Samples& positives, const Samples& negatives, double cost) {
  const int features = static_cast<int>(positives.features);
  std::vector<std::vector<feature_node>> rows;
  std::vector<double> labels;
  for (const auto& [samples, label] : {std::pair(&positives, 1.0), std::pair(&negatives, -1.0)}) {
    for (std::size_t i = 0; i < samples->size(); ++i) {
      std::vector<feature_node>& row = rows.emplace_back();
      for (int f = 0; f < features; ++f) row.push_back({f + 1, (*samples)[i][f] * kFeatureScale});
      row.push_back({features + 1, 1.0});
      row.push_back({-1, 0});
      labels.push_back(label);
    }
  }
  std::vector<feature_node*> starts;
  for (auto& row : rows) starts.push_back(row.data());
  problem data{};
  data.l = static_cast<int>(rows.size());
  data.n = features + 1;
  data.y = labels.data();
  data.x = starts.data();
  data.bias = 1;
  parameter options{};
  options.solver_type = L2R_L2LOSS_SVC_DUAL;
  options.C = cost;
  options.eps = 0.001;
  set_print_string_function([](const char*) {});
  model* trained = ::train(&data, &options);
  Separator separator{{trained->w, trained->w + features}, trained->w[features]};
  free_and_destroy_model(&trained);
  return separator;
}

TEST(SupportVectorMachine, ReachesTheObjectiveOfLiblinear) {
  for (const int apart : {0, 20, 100}) {
    for (const double cost : {0.1, 1.0, 10.0}) {
      const Samples positives = make_samples(60, 203, apart, 1);
      const Samples negatives = make_samples(300, 203, 0, 2);
      int passes = 0;
      const Separator ours = train_svm(positives, negatives, cost, 1, [&] { ++passes; });
      const double reached = objective(ours, positives, negatives, cost);
      const double expected =
          objective(train_with_liblinear(positives, negatives, cost), positives, negatives, cost);
      EXPECT_LT(reached, expected * 1.003) << apart << " apart, cost " << cost;
      EXPECT_GT(reached, expected * 0.997) << apart << " apart, cost " << cost;
      EXPECT_GT(passes, 0);
      EXPECT_LT(passes, 1000) << "did not converge";
    }
  }
}

TEST(SupportVectorMachine, SeparatesWhatCanBeSeparated) {
  const Samples positives = make_samples(40, 100, 105, 3);
  const Samples negatives = make_samples(80, 100, 0, 4);
  const Separator separator = train_svm(positives, negatives, 1e5, 1, [] {});
  for (std::size_t i = 0; i < positives.size(); ++i) EXPECT_GT(score(separator, positives[i]), 0);
  for (std::size_t i = 0; i < negatives.size(); ++i) EXPECT_LT(score(separator, negatives[i]), 0);
}

TEST(SupportVectorMachine, LoopsGiveTheSumsInTheirOrder) {
  std::mt19937 random(5);
  for (const std::size_t count : {16, 32, 48, 208, 4096}) {
    std::vector<std::uint8_t> features(count);
    std::vector<float> weights(count);
    for (std::size_t i = 0; i < count; ++i) {
      features[i] = static_cast<std::uint8_t>(random());
      weights[i] = static_cast<float>(random() % 20001) / 10000 - 1;
    }
    float sums[16] = {};
    for (std::size_t i = 0; i < count; ++i) sums[i % 16] += static_cast<float>(features[i]) * weights[i];
    float expected = 0;
    for (const float sum : sums) expected += sum;
    EXPECT_EQ(svm::dot(features.data(), weights.data(), count), expected);

    std::vector<float> moved = weights;
    svm::add_multiple(0.37F, features.data(), count, moved.data());
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(moved[i], weights[i] + 0.37F * static_cast<float>(features[i]));
  }
}

}  // namespace
}  // namespace sightline::filterbank
