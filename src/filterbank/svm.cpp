// LIBLINEAR behind plain vectors, and the step from its weights to a model's integers.
#include <linear.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "base/error.hpp"
#include "filterbank/kernels.hpp"
#include "filterbank/training.hpp"

namespace sightline::filterbank {
namespace {

// Block features have unit length; scaled by 0.1, C = 1 is a sensible cost for windows of a hundred blocks.
constexpr double kFeatureScale = 0.1 / 255.0;

// LIBLINEAR reports through one global function: the hook for progress while it runs.
const std::function<void()>* current_tick = nullptr;
void print_nothing(const char*) {
  if (current_tick) (*current_tick)();
}

struct FreeModel {
  void operator()(model* m) const { free_and_destroy_model(&m); }
};

void append(const Samples& samples, double label, std::vector<feature_node>& nodes,
            std::vector<std::size_t>& starts, std::vector<double>& labels) {
  const int bias_index = static_cast<int>(samples.features) + 1;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    starts.push_back(nodes.size());
    labels.push_back(label);
    const std::uint8_t* values = samples[s];
    for (std::size_t i = 0; i < samples.features; ++i) {
      if (values[i] != 0) nodes.push_back({static_cast<int>(i) + 1, values[i] * kFeatureScale});
    }
    nodes.push_back({bias_index, 1.0});
    nodes.push_back({-1, 0.0});
  }
}

std::size_t count_nonzero(const Samples& samples) {
  return samples.values.size() - std::count(samples.values.begin(), samples.values.end(), std::uint8_t{0}) +
         2 * samples.size();
}

}  // namespace

Separator train_svm(const Samples& positives, const Samples& negatives, double cost, unsigned seed,
                    const std::function<void()>& tick) {
  if (positives.size() == 0 || negatives.size() == 0) {
    throw Error(ExitCode::input, "training needs positives and negatives, but there are " +
                                     std::to_string(positives.size()) + " and " +
                                     std::to_string(negatives.size()));
  }
  std::vector<feature_node> nodes;
  std::vector<std::size_t> starts;
  std::vector<double> labels;
  nodes.reserve(count_nonzero(positives) + count_nonzero(negatives));
  append(positives, 1, nodes, starts, labels);
  append(negatives, -1, nodes, starts, labels);
  std::vector<feature_node*> rows;
  rows.reserve(starts.size());
  for (const std::size_t start : starts) rows.push_back(nodes.data() + start);

  problem data{};
  data.l = static_cast<int>(rows.size());
  data.n = static_cast<int>(positives.features) + 1;
  data.y = labels.data();
  data.x = rows.data();
  data.bias = 1;
  parameter options{};
  options.solver_type = L2R_L2LOSS_SVC_DUAL;
  options.C = cost;
  options.eps = 0.01;
  options.p = 0.1;

  std::srand(seed);  // LIBLINEAR shuffles with rand()
  current_tick = &tick;
  set_print_string_function(print_nothing);
  const std::unique_ptr<model, FreeModel> trained(::train(&data, &options));
  current_tick = nullptr;

  Separator separator;
  separator.weights.assign(trained->w, trained->w + positives.features);
  separator.bias = trained->w[positives.features];
  if (trained->label[0] != 1) {  // LIBLINEAR's first class is that of the first row, a positive
    throw Error(ExitCode::failed, "LIBLINEAR returned its classes in an unexpected order");
  }
  return separator;
}

void quantise_separator(const Separator& separator, Model& model) {
  double largest = 0;
  for (const double w : separator.weights) largest = std::max(largest, std::fabs(w));
  if (largest == 0)
    throw Error(ExitCode::failed, "training gave a classifier of zeros", "give more pictures");
  // A few large weights should not cost all others their precision: take the step of least squared error.
  double best_step = largest / kMaxWeight;
  double best_error = -1;
  for (double share = 1.0; share > 0.3; share -= 0.02) {
    const double step = share * largest / kMaxWeight;
    double error = 0;
    for (const double w : separator.weights) {
      const double rounded = step * std::clamp(std::nearbyint(w / step), -1.0 * kMaxWeight, 1.0 * kMaxWeight);
      error += (rounded - w) * (rounded - w);
    }
    if (best_error < 0 || error < best_error) {
      best_error = error;
      best_step = step;
    }
  }
  model.weights.clear();
  for (const double w : separator.weights) {
    model.weights.push_back(static_cast<std::int8_t>(
        std::clamp(std::nearbyint(w / best_step), -1.0 * kMaxWeight, 1.0 * kMaxWeight)));
  }
  model.scale = best_step * kFeatureScale;
  model.bias = std::llround(separator.bias / model.scale);
}

}  // namespace sightline::filterbank
