#pragma once
/// The stages' inner loops on the CPU, on plain memory (see layout.hpp), each in two forms that give the same
/// bits: `sightline::filterbank::X` in SIMD, dispatched at run time to the best instruction set, and
/// `sightline::filterbank::reference::X` in plain scalar code. A call handles a range of rows; rows are
/// independent. Thread-safety: pure functions of their arguments.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "detectors/filterbank/dictionary.hpp"
#include "detectors/filterbank/filtered_levels.hpp"
#include "detectors/filterbank/layout.hpp"
#include "image/view.hpp"

namespace sightline::filterbank {

/// The window classifier's weights, packed for `classify_rows`. Immutable after construction.
class PackedWeights {
 public:
  PackedWeights() = default;
  /// @param weights  [block y][block x][cell of block][bin], each within +-kMaxWeight; a block's patterns
  /// follow its cells
  PackedWeights(std::span<const std::int8_t> weights, WindowShape window, int filter_bins,
                int pattern_bins = 0);
  /// Words as `row` returns them.
  PackedWeights(std::vector<std::int32_t> words, WindowShape window)
      : window_(window), quads_(static_cast<int>(words.size()) / window.blocks()), words_(std::move(words)) {}

  WindowShape window() const { return window_; }
  int quads() const { return quads_; }
  /// Word of four weights for the given block of the window: [block y][block x][quad].
  const std::int32_t* row(int block_y) const {
    return words_.data() + static_cast<std::size_t>(block_y) * window_.blocks_x() * quads_;
  }
  /// The same words for `classify_windows`, [block y][quad][columns_pitch()], 0 from blocks_x on; there are
  /// none in weights that were made of words.
  const std::int32_t* columns(int block_y) const {
    return columns_.data() + static_cast<std::size_t>(block_y) * quads_ * columns_pitch();
  }
  static constexpr int kColumns = 8;
  int columns_pitch() const { return round_up(window_.blocks_x(), kColumns); }

 private:
  WindowShape window_;
  int quads_ = 0;
  std::vector<std::int32_t> words_;
  std::vector<std::int32_t> columns_;
};

/// A cheap estimate of the linear classifier's sums: its weights, one row of numbers a block, are nearly of
/// low rank, so that a block's products follow from its components along a basis of a few vectors (the rows'
/// leading singular vectors). Made of the weights alone, in arithmetic that gives the same bits everywhere.
/// Immutable.
class PreRejection {
 public:
  static constexpr int kRank = 8;
  static constexpr int kPairs = kRank / 2;
  static constexpr int kShift = 8;  ///< fraction bits of a component

  PreRejection() = default;
  explicit PreRejection(const PackedWeights& weights);

  /// Words of four basis coefficients, [quad][rank].
  const std::vector<std::int32_t>& basis() const { return basis_; }
  /// Words of two weights of 16 bits: [block y][block x][pair].
  const PackedWeights& weights() const { return weights_; }
  /// Classifier's sum a unit of the pre-rejection's.
  double unit() const { return unit_; }

 private:
  std::vector<std::int32_t> basis_;
  PackedWeights weights_;
  double unit_ = 1;
};

/// Largest |weight|. Two features of one block have an L2 norm of at most 255.8 and two weights one of at
/// most 127.3, so the sum of two products never reaches 2^15 and AVX2's saturating 16-bit pair sum is exact.
inline constexpr int kMaxWeight = 90;

// --- filter: image -> responses
// -------------------------------------------------------------------------------------

/// Whether responses of either sign share a filter's bin, or those below 0 have one of their own: the
/// filter's index plus the number of filters (128 filters at most).
enum class ContrastMode { insensitive, sensitive };

/// Response of every filter to the 3x3 patch at every pixel of rows [y_begin, y_end); keeps the largest
/// |response| and the bin of the lowest filter that reaches it. `image` must have one readable pixel all
/// round and 19 to the right (PaddedImage). `response_map` has the image's size; its rows may be written up
/// to the stride.
void filter_rows(GrayView image, const Dictionary& dictionary, ContrastMode contrast, int y_begin, int y_end,
                 ImageView<std::uint32_t> response_map);

/// Adds every pixel's local binary pattern to its response, which must have none yet. `image` and
/// `response_map` as above.
void add_patterns(GrayView image, int y_begin, int y_end, ImageView<std::uint32_t> response_map);

/// Responses below this are rounding errors of flat patches: a difference of one gray level gives more.
inline constexpr float kLeastResponse = 0.01F;

/// Response that is kept of each pixel: the one of the largest magnitude, or the largest one above 0 (the
/// published algorithm; the first filter's if none is above 0); 0 if it is below kLeastResponse.
enum class ResponseMode { magnitude, value };

/// The float form: reference dictionary, `responses` gets the kept response (a magnitude, or a value from 0
/// up), `indices` the lowest index that reaches it (strides >= width rounded up to 16).
void filter_rows_float(GrayView image, const Dictionary& dictionary, ResponseMode mode, int y_begin,
                       int y_end, ImageView<float> responses, ImageView<std::uint8_t> indices);

/// Float filters of any patch, each response with its sign: `responses` gets the one of the largest
/// magnitude, or 0 if that is below kLeastResponse, `indices` the lowest index that reaches it (strides as
/// above). Pixels outside the image are replaced by the nearest one.
void filter_rows_signed(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                        ImageView<float> responses, ImageView<std::uint8_t> indices);

// --- histogram: responses -> square roots of cell histograms
// --------------------------------------------------------

/// A row of cells: grid.roots_row(), grid.patterns_row() and grid.totals_row() elements, see layout.hpp.
struct CellRow {
  float* roots = nullptr;
  std::uint8_t* patterns = nullptr;  ///< unused if the grid has none
  std::int32_t* totals = nullptr;
};

/// One row of cells: sums the responses of each cell's pixels by index, scales the sums to 64 pixels a cell
/// (times 64 / pixels, a correctly rounded float; 1 for cells of 8x8), and stores their square roots (every
/// cell is part of four blocks, its roots are taken once) and the sum of all, scaled and rounded up (no
/// feature of a block passes 255 then); the totals from cells_x to grid.columns() are 0. A cell has at most
/// 16x16 pixels. Where the grid has patterns, the pixels of each are counted, the counts scaled and their
/// square roots taken as those of sums, and `round(kPatternFactor * root)` stored, to nearest even; they are
/// no part of the total.
void histogram_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
                   int cell_y, const CellRow& cells);

// --- normalise: -> 8-bit block features
// -------------------------------------------------------------------------

/// L1-sqrt normalisation of one row of blocks: `round(255 * sqrt(v) / sqrt(n))`, n the sum of the block's
/// four totals plus epsilon; all 0 where n is 0. Rounds to nearest even. The features of its first cell's
/// patterns are the block's as they are. Writes grid.columns() blocks, 0 if there is none.
void normalise_row(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                   std::uint8_t* features);

// --- classify: features -> window scores
// ------------------------------------------------------------------------

/// Adds the window sums of weight times feature to the rows [y_begin, y_end) of `scores` ([window y][pitch]).
/// `features` is the level's whole array. Columns past the last window get unspecified values.
void classify_rows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights, int y_begin,
                   int y_end, std::int32_t* scores);

/// Windows that classify_windows takes at most.
inline constexpr int kWindowsAtOnce = 4;

/// The window sums of one to kWindowsAtOnce windows of row y, those that begin at the blocks `columns`,
/// ascending. Efficient if they are less than a vector apart and share their input.
void classify_windows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights,
                      std::span<const int> columns, int y, std::int32_t* sums);

/// One row of blocks' components along the pre-rejection's basis: `(sum of feature * basis + 128) >> 8`, 16
/// bits each, as [pair][block x] of words with the lower component in the lower half. Writes grid.columns()
/// blocks.
void project_row(const std::uint8_t* features, const Grid& grid, const PreRejection& pre_rejection,
                 std::int32_t* components);

/// Both normalise_row and project_row of its features, while these are in the cache.
void normalise_and_project_row(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                               const PreRejection& pre_rejection, std::uint8_t* features,
                               std::int32_t* components);

/// Adds the window sums of component times the pre-rejection's weight to the rows [y_begin, y_end) of `sums`,
/// which is as `scores` of classify_rows; `components` is the level's whole array.
void estimate_rows(const std::int32_t* components, const Grid& grid, const PreRejection& pre_rejection,
                   int y_begin, int y_end, std::int32_t* sums);

/// Squared length of each block's features, for the distance classifier.
void block_energies(const std::uint8_t* features, const Grid& grid, std::int32_t* energies);

namespace reference {
void filter_rows(GrayView image, const Dictionary& dictionary, ContrastMode contrast, int y_begin, int y_end,
                 ImageView<std::uint32_t> response_map);
void add_patterns(GrayView image, int y_begin, int y_end, ImageView<std::uint32_t> response_map);
void filter_rows_float(GrayView image, const Dictionary& dictionary, ResponseMode mode, int y_begin,
                       int y_end, ImageView<float> responses, ImageView<std::uint8_t> indices);
void histogram_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
                   int cell_y, const CellRow& cells);
void normalise_row(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                   std::uint8_t* features);
void classify_rows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights, int y_begin,
                   int y_end, std::int32_t* scores);
void project_row(const std::uint8_t* features, const Grid& grid, const PreRejection& pre_rejection,
                 std::int32_t* components);
void estimate_rows(const std::int32_t* components, const Grid& grid, const PreRejection& pre_rejection,
                   int y_begin, int y_end, std::int32_t* sums);
}  // namespace reference

}  // namespace sightline::filterbank
