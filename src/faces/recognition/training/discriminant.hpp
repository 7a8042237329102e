#pragma once
/// Learns the projection of a model from photos of many people: separates differences between people from
/// those of light, pose and expression.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "faces/recognition/projection.hpp"
#include "faces/recognition/training/axes.hpp"

namespace sightline::recognition {

struct DiscriminantOptions {
  int dims = 256;           ///< dimensions of the templates
  double shrinkage = 0.03;  ///< shrinks the within-person scatter towards an isotropic one, 0..1
  /// Weight of the dimensions in which people differ most. 0: all equal; 1: as for Gaussians (S. Ioffe,
  /// "Probabilistic Linear Discriminant Analysis", ECCV 2006).
  double emphasis = 0.75;
  int length = 500;  ///< length of the templates
};

/// Directions in the space of principal axes.
struct Discriminant {
  std::size_t axes = 0, dims = 0;
  std::vector<double> directions;  ///< [dim][axis]
};

/// Linear discriminant analysis: with St the scatter of all rows and Sw that of rows about their person's
/// mean, of people who have more than one photo, directions are eigenvectors of Sw v = w St v by rising w,
/// scaled by what a cosine should make of them: a variance of 1 in all, times ((1 + r) r / (1 + 2 r)) ^
/// emphasis of their ratio r of scatter between people to that within.
/// @param parts    rows along the axes (PrincipalAxes::parts)
/// @param people   by row: whose photo it is
/// @param is_used  by row; others are left out
/// Throws Error (input) where too few people have more than one photo.
Discriminant find_discriminant(const std::vector<float>& parts, std::size_t axes,
                               std::span<const std::uint32_t> people, const std::vector<bool>& is_used,
                               const DiscriminantOptions& options);

/// The template that a row gets, before the projection is put into whole numbers.
std::vector<std::int8_t> template_of_row(const Discriminant& discriminant, const float* parts, int length);

/// The projection of roots of counts, in whole numbers.
Projection make_projection(const PrincipalAxes& axes, const Discriminant& discriminant, int length);

}  // namespace sightline::recognition
