#include "faces/recognition/training/axes.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "training/linear_algebra.hpp"

namespace sightline::recognition {
namespace {

using training::Doubles;
using training::float_product;
using training::product;
using Matrix = training::Floats;
using Index = Eigen::Index;
using Bytes = Eigen::Map<const Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

constexpr int kPasses = 4;
constexpr Index kSpareAxes = 40;  // found besides, so that those asked for are right
constexpr Index kPiece = 128;     // rows or columns of a task

class Products {
 public:
  explicit Products(const Descriptions& descriptions)
      : rows_(descriptions.rows.data(), static_cast<Index>(descriptions.count()),
              static_cast<Index>(descriptions.values)),
        mean_(Eigen::VectorXd::Zero(rows_.cols())) {
    for (Index i = 0; i < rows_.rows(); ++i) mean_ += rows_.row(i).cast<double>().transpose();
    mean_ /= static_cast<double>(rows_.rows());
  }
  const Eigen::VectorXd& mean() const { return mean_; }

  // Each row's part along the columns of `axes`, from the mean.
  Matrix along(const Matrix& axes) const {
    const Eigen::RowVectorXf offset = float_product(mean_.cast<float>().transpose(), axes);
    Matrix result(rows_.rows(), axes.cols());
    for_pieces(rows_.rows(), [&](Index first, Index count) {
      result.middleRows(first, count) = float_product(rows_.middleRows(first, count).cast<float>(), axes);
      result.middleRows(first, count).rowwise() -= offset;
    });
    return result;
  }

  // The sum of all rows from the mean, each times its row of `parts`, whose columns have a sum of 0.
  Matrix back(const Matrix& parts) const {
    Matrix result(rows_.cols(), parts.cols());
    for_pieces(rows_.cols(), [&](Index first, Index count) {
      result.middleRows(first, count) =
          float_product(rows_.middleCols(first, count).cast<float>().transpose(), parts);
    });
    return result;
  }

 private:
  template <typename Work>
  static void for_pieces(Index size, const Work& work) {
    parallel_for_isolated((size + kPiece - 1) / kPiece, [&](Index piece) {
      work(piece * kPiece, std::min(kPiece, size - piece * kPiece));
    });
  }

  Bytes rows_;
  Eigen::VectorXd mean_;
};

// An orthonormal base of the columns' span, by Cholesky decomposition of their products, twice since once is
// not enough for floats (CholeskyQR2, T. Fukaya et al., 2014).
void make_orthonormal(Matrix& columns) {
  for (int i = 0; i < 2; ++i) {
    const Doubles exact = columns.cast<double>();
    const Doubles inverse = training::inverse_root(product(exact.transpose(), exact));
    columns = product(exact, inverse.transpose()).cast<float>();
  }
}

}  // namespace

PrincipalAxes principal_axes(const Descriptions& descriptions, std::size_t count, std::uint64_t seed,
                             training::ProgressClock& clock) {
  const Products products(descriptions);
  const auto values = static_cast<Index>(descriptions.values);
  const Index most = std::min(values, static_cast<Index>(descriptions.count()) - 1);
  const Index wanted = std::min(static_cast<Index>(count), most);
  const Index found = std::min(wanted + kSpareAxes, most);
  Matrix axes(values, found);
  Random random(seed);
  for (Index i = 0; i < axes.size(); ++i) axes.data()[i] = static_cast<float>(random.unit() - 0.5);
  make_orthonormal(axes);
  for (int pass = 0; pass < kPasses; ++pass) {
    clock.check(double{1} * pass / (kPasses + 1));
    axes = products.back(products.along(axes));
    make_orthonormal(axes);
  }
  clock.check(double{1} * kPasses / (kPasses + 1));
  const Matrix parts = products.along(axes);
  const Doubles exact = parts.cast<double>();
  const Doubles vectors = training::eigenvectors(product(exact.transpose(), exact));
  // Ordered by falling variance.
  const Matrix turn = vectors.rowwise().reverse().leftCols(wanted).cast<float>();
  const Matrix turned_axes = float_product(axes, turn);
  const Matrix turned_parts = float_product(parts, turn);
  PrincipalAxes result;
  result.mean.assign(products.mean().begin(), products.mean().end());
  result.axes.assign(turned_axes.data(), turned_axes.data() + turned_axes.size());  // columns one by one
  result.parts.resize(static_cast<std::size_t>(turned_parts.size()));
  Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      result.parts.data(), turned_parts.rows(), turned_parts.cols()) = turned_parts;
  return result;
}

}  // namespace sightline::recognition
