#pragma once
/// Products and decompositions of matrices. Eigen's templates for them are compiled here alone, because they
/// take the compiler longer than most of the other sources.

#include <Eigen/Core>

namespace sightline::training {

using Floats = Eigen::MatrixXf;
using Doubles = Eigen::MatrixXd;

Floats float_product(const Floats& a, const Floats& b);
Doubles product(const Doubles& a, const Doubles& b);

/// Inverse of the lower Cholesky factor L of a symmetric positive definite matrix L L^T.
Doubles inverse_root(const Doubles& symmetric);

/// Eigenvectors of a symmetric matrix, one a column, by rising eigenvalue.
Doubles eigenvectors(const Doubles& symmetric);

}  // namespace sightline::training
