#pragma once
/// Kernel of a search: one query against one block of templates.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "faces/recognition/templates.hpp"

namespace sightline::recognition {

/// A query, made ready for passing over any number of blocks.
struct QueryPlan {
  /// A dimension of counts that has to be looked at: the query's count is not 0, and neither is its weight.
  struct Active {
    std::int32_t dim = 0;
    std::int32_t count = 0;
    // Values of bytes, as kernels need them.
    float value = 0;      ///< count
    float numerator = 0;  ///< 16 count^2, and what makes it round as it is to: see search_simd.cpp
  };
  /// Counts up to this value need only an approximate reciprocal; see search_simd.cpp.
  static constexpr int kSmallCount = 6;
  static constexpr float kSmallUp = 0.25F, kUp = 0.3125F;
  /// Dimensions of one weight that lie together, all with small counts or all with larger ones: those of
  /// `active` from the end of the run before to here.
  struct Run {
    std::uint32_t weight;
    bool small;
    std::size_t end;
  };
  std::vector<Active> active;  ///< sorted by run, then dimension
  std::vector<Run> runs;
  std::vector<std::int32_t> words;  ///< a vector's values, four per word, the first in the lowest byte
  std::uint32_t constant = 0;       ///< part of the distance to all templates, modulo 2^32

  /// @param query  a template of this format
  void make(const TemplateFormat& format, std::span<const std::uint8_t> query);
};

/// The distances of a block's templates, also those of places that no template has.
/// @param sums  TemplateSet::sums of the block
void block_distances(TemplateFormat::Kind kind, const std::uint8_t* block, const std::uint32_t* sums,
                     const QueryPlan& plan, std::uint32_t* distances);

/// Adds up what of a distance depends on both, for the templates of a block of TemplateSet: of counts,
/// weight * chi_square_rest, modulo 2^32; of vectors, the dot product. SIMD; plain loops in `reference`.
void add_rests8(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums);
void add_rests16(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums);
void add_products(const std::uint8_t* block, const QueryPlan& plan, std::uint32_t* sums);

}  // namespace sightline::recognition
