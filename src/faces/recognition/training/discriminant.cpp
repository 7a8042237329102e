#include "faces/recognition/training/discriminant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "training/linear_algebra.hpp"

namespace sightline::recognition {
namespace {

using training::Doubles;
using training::product;
using Index = Eigen::Index;

// Used rows of people with several, relative to their person's mean; and the number of these people.
struct WithinPeople {
  Doubles rows;
  Index people = 0;
  Doubles scatter() const {
    return product(rows.transpose(), rows) / static_cast<double>(std::max<Index>(1, rows.rows() - people));
  }
};

WithinPeople within_people(const Doubles& rows, const std::vector<std::uint32_t>& people) {
  std::map<std::uint32_t, std::vector<Index>> by_person;
  for (std::size_t i = 0; i < people.size(); ++i) by_person[people[i]].push_back(static_cast<Index>(i));
  WithinPeople within;
  within.rows.resize(rows.rows(), rows.cols());
  Index count = 0;
  for (const auto& [person, own] : by_person) {
    if (own.size() < 2) continue;
    Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(rows.cols());
    for (const Index i : own) mean += rows.row(i);
    mean /= static_cast<double>(own.size());
    for (const Index i : own) within.rows.row(count++) = rows.row(i) - mean;
    ++within.people;
  }
  within.rows.conservativeResize(count, Eigen::NoChange);
  return within;
}

}  // namespace

Discriminant find_discriminant(const std::vector<float>& parts, std::size_t axes,
                               std::span<const std::uint32_t> people, const std::vector<bool>& is_used,
                               const DiscriminantOptions& options) {
  const auto size = static_cast<Index>(axes);
  std::vector<std::uint32_t> own_people;
  Doubles rows(static_cast<Index>(std::ranges::count(is_used, true)), size);
  for (std::size_t i = 0; i < people.size(); ++i) {
    if (!is_used[i]) continue;
    rows.row(static_cast<Index>(own_people.size())) =
        Eigen::Map<const Eigen::RowVectorXf>(parts.data() + i * axes, size).cast<double>();
    own_people.push_back(people[i]);
  }
  const WithinPeople found = within_people(rows, own_people);
  if (found.people < 2 || options.dims > size)
    throw Error(ExitCode::input, "the photos show too few people to train on",
                "give several photos each of some hundred people");
  const Doubles total = product(rows.transpose(), rows) / static_cast<double>(rows.rows());
  Doubles within = found.scatter();
  within.diagonal().array() += options.shrinkage * within.trace() / static_cast<double>(size);
  // The inverse of a root of St makes the scatter of all rows 1 in every direction.
  const Doubles whitening = training::inverse_root(total);
  const Doubles vectors = training::eigenvectors(product(product(whitening, within), whitening.transpose()));
  Doubles directions = product(whitening.transpose(), vectors.leftCols(options.dims));
  const Doubles along = product(found.rows, directions);
  const double freedom = static_cast<double>(std::max<Index>(1, found.rows.rows() - found.people));
  for (Index d = 0; d < directions.cols(); ++d) {
    const double share = std::clamp(along.col(d).squaredNorm() / freedom, 0.001, 0.999);
    const double ratio = (1 - share) / share;
    directions.col(d) *= std::pow((1 + ratio) * ratio / (1 + 2 * ratio), options.emphasis / 2);
  }
  return {axes, static_cast<std::size_t>(options.dims),
          std::vector<double>(directions.data(), directions.data() + directions.size())};
}

std::vector<std::int8_t> template_of_row(const Discriminant& discriminant, const float* parts, int length) {
  const Eigen::Map<const Eigen::RowVectorXf> row(parts, static_cast<Index>(discriminant.axes));
  const Eigen::Map<const Doubles> directions(discriminant.directions.data(),
                                             static_cast<Index>(discriminant.axes),
                                             static_cast<Index>(discriminant.dims));
  const Eigen::RowVectorXd along = product(row.cast<double>(), directions);
  const double norm = along.norm();
  std::vector<std::int8_t> result(discriminant.dims);
  for (std::size_t d = 0; d < result.size() && norm > 0; ++d) {
    const double value = along[static_cast<Index>(d)] * length / norm;
    result[d] = static_cast<std::int8_t>(std::clamp(std::round(value), -127.0, 127.0));
  }
  return result;
}

Projection make_projection(const PrincipalAxes& axes, const Discriminant& discriminant, int length) {
  const auto values = static_cast<Index>(axes.mean.size()), own_axes = static_cast<Index>(discriminant.axes);
  const auto dims = static_cast<Index>(discriminant.dims);
  const Eigen::Map<const Eigen::MatrixXf> base(axes.axes.data(), values, own_axes);
  const Eigen::Map<const Doubles> directions(discriminant.directions.data(), own_axes, dims);
  const Eigen::Map<const Eigen::VectorXd> mean(axes.mean.data(), values);
  const Doubles weights = product(base.cast<double>(), directions);
  Projection result;
  result.dims = static_cast<int>(dims);
  result.values = static_cast<int>(values);
  result.length = length;
  result.weights.resize(static_cast<std::size_t>(values * dims));
  // Quantisation step of each dimension's weights.
  const Eigen::RowVectorXd steps = weights.cwiseAbs().colwise().maxCoeff() / 127;
  constexpr double kMostScale = std::numeric_limits<std::uint16_t>::max();
  const double unit = steps.maxCoeff() / kMostScale;
  for (Index d = 0; d < dims; ++d) {
    double bias = 0;
    for (Index j = 0; j < values; ++j) {
      const double weight = steps[d] > 0 ? std::round(weights(j, d) / steps[d]) : 0;
      result.weights[static_cast<std::size_t>(d * values + j)] = static_cast<std::int8_t>(weight);
      bias += weight * mean[j];
    }
    result.bias.push_back(static_cast<std::int32_t>(std::lround(bias)));
    result.scale.push_back(static_cast<std::uint16_t>(unit > 0 ? std::lround(steps[d] / unit) : 0));
  }
  return result;
}

}  // namespace sightline::recognition
