#include "training/linear_algebra.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace sightline::training {

Floats float_product(const Floats& a, const Floats& b) {
  return a * b;
}
Doubles product(const Doubles& a, const Doubles& b) {
  return a * b;
}

Doubles inverse_root(const Doubles& symmetric) {
  return symmetric.llt().matrixL().solve(Doubles::Identity(symmetric.rows(), symmetric.cols()));
}

Doubles eigenvectors(const Doubles& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Doubles>(symmetric).eigenvectors();
}

}  // namespace sightline::training
