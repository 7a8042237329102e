// The scan of a tile in SIMD: codes or ranks of its pixels, and its windows on their way through the weak
// classifiers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/waldboost/scan_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "detectors/waldboost/haar.hpp"
#include "detectors/waldboost/ranks.hpp"
#include "detectors/waldboost/scan.hpp"
#include "image/integral.hpp"
#include "image/lbp_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::waldboost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using sightline::HWY_NAMESPACE::lbp_codes;

constexpr int kStride = PackedModel::kStride;
constexpr int kPlane = PackedModel::kPlane;
constexpr int kListRows = PackedModel::kListRows;
constexpr int kFewWindows = 32;  // so few continue one by one
constexpr int kRing = 8;         // rows of sums that are kept; a grid of blocks two pixels high sees five

using Words = hn::ScalableTag<std::int16_t>;
using HalfBytes = hn::Rebind<std::uint8_t, Words>;

HWY_INLINE hn::VFromD<Words> load_wide(const std::uint8_t* pixels) {
  return hn::PromoteTo(Words(), hn::LoadU(HalfBytes(), pixels));
}

// Sums of blocks of one size whose upper left pixels are those of a row.
HWY_INLINE void sum_blocks(const std::uint8_t* row, std::ptrdiff_t stride, int width, int height, int count,
                           std::int16_t* sums) {
  const Words d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < count; x += lanes) {
    auto sum = load_wide(row + x);
    if (width == 2) sum = hn::Add(sum, load_wide(row + x + 1));
    if (height == 2) {
      sum = hn::Add(sum, load_wide(row + stride + x));
      if (width == 2) sum = hn::Add(sum, load_wide(row + stride + x + 1));
    }
    hn::StoreU(sum, d, sums + x);
  }
}

// Codes of a row of grids whose blocks' sums lie in three rows.
HWY_INLINE void codes_of_sums(const std::int16_t* const (&rows)[kGrid], int block_width, int count,
                              std::uint8_t* codes) {
  const Words d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < count; x += lanes) {
    const auto at = [&](int row, int column)
                        HWY_ATTR { return hn::LoadU(d, rows[row] + x + column * block_width); };
    const auto middle = at(1, 1);
    auto darker = hn::Zero(d);
    for (int i = 0; i < 8; ++i) {
      const auto [dx, dy] = kLbpNeighbours[i];
      const auto bit = hn::Set(d, static_cast<std::int16_t>(1 << i));
      darker = hn::Or(darker, hn::IfThenElseZero(hn::Gt(middle, at(1 + dy, 1 + dx)), bit));
    }
    const auto code = hn::Xor(darker, hn::Set(d, std::int16_t{kCodes - 1}));
    hn::StoreU(hn::DemoteTo(HalfBytes(), code), HalfBytes(), codes + x);
  }
}

// Ranks of a row of grids, likewise.
HWY_INLINE void ranks_of_sums(const std::int16_t* const (&rows)[kGrid], int block_width, int count,
                              std::uint32_t* ranks) {
  const Words d;
  const hn::RebindToUnsigned<Words> d_halves;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < count; x += lanes) {
    const auto at = [&](int block) HWY_ATTR {
      return hn::LoadU(d, rows[block / kGrid] + x + block % kGrid * block_width);
    };
    auto first = hn::Zero(d), second = hn::Zero(d);
    for (int block = 0; block < kBlocks; ++block) {
      const auto own = at(block);
      auto rank = hn::Zero(d);
      for (int other = 0; other < kBlocks; ++other)
        rank = hn::Sub(rank, hn::VecFromMask(d, hn::Gt(at(other), own)));
      const auto three_bits = hn::Min(rank, hn::Set(d, static_cast<std::int16_t>(kRankMask)));
      if (block < kRanksInFirstHalf) {
        first = hn::Or(first, hn::ShiftLeftSame(three_bits, rank_shift(block)));
      } else {
        second = hn::Or(second, hn::ShiftLeftSame(three_bits, rank_shift(block) - 16));
      }
      const auto lowest = hn::Set(d, static_cast<std::int16_t>((block + 1) << kLowestShift));
      second = hn::Or(second, hn::IfThenElseZero(hn::Eq(rank, hn::Set(d, std::int16_t{8})), lowest));
    }
    hn::StoreInterleaved2(hn::BitCast(d_halves, first), hn::BitCast(d_halves, second), d_halves,
                          reinterpret_cast<std::uint16_t*>(ranks + x));
  }
}

HWY_INLINE void look_at_sums(const std::int16_t* const (&rows)[kGrid], int block_width, int count,
                             std::uint8_t* codes) {
  codes_of_sums(rows, block_width, count, codes);
}
HWY_INLINE void look_at_sums(const std::int16_t* const (&rows)[kGrid], int block_width, int count,
                             std::uint32_t* ranks) {
  ranks_of_sums(rows, block_width, count, ranks);
}

// Codes of single pixels need no sums.
void make_plane_of_pixels(GrayView image, const Tile& tile, int columns, int rows, std::uint8_t* codes) {
  const hn::ScalableTag<std::uint8_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int y = 0; y < rows; ++y) {
    const std::uint8_t* const middle = image.row(tile.y + y + 1) + tile.x + 1;
    for (int x = 0; x < columns; x += lanes)
      hn::StoreU(lbp_codes(d, middle + x, image.stride()), d, codes + y * kStride + x);
  }
}

// A plane of codes or ranks, by the type of the element.
template <typename Element>
void make_plane(GrayView image, const Tile& tile, int width, int height, int columns, int rows,
                std::int16_t* ring, Element* plane) {
  const int wide = columns + (kGrid - 1) * width;
  const auto ring_row = [&](int y) { return ring + y % kRing * kStride; };
  int made = 0;
  for (int y = 0; y < rows; ++y) {
    for (; made <= y + (kGrid - 1) * height; ++made)
      sum_blocks(image.row(tile.y + made) + tile.x, image.stride(), width, height, wide, ring_row(made));
    const std::int16_t* const of_grid[kGrid] = {ring_row(y), ring_row(y + height), ring_row(y + 2 * height)};
    look_at_sums(of_grid, width, columns, plane + y * kStride);
  }
}

// Makes all planes that the model uses.
template <typename Element>
void make_planes(const PackedModel& model, GrayView image, const Tile& tile, ScanScratch& scratch,
                 AlignedBuffer<Element>& planes) {
  planes.resize(PackedModel::kPlanes * kPlane);
  scratch.block_sums.resize(kRing * kStride);
  const Size window = model.model().window;
  for (int plane = 0; plane < PackedModel::kPlanes; ++plane) {
    if (!model.uses_plane(plane)) continue;
    const int width = plane % kMaxBlock + 1, height = plane / kMaxBlock + 1;
    const int columns = tile.columns + window.width - kGrid * width;
    const int rows = tile.rows + window.height - kGrid * height;
    Element* const to = planes.data() + plane * kPlane;
    if constexpr (sizeof(Element) == 1) {
      if (width == 1 && height == 1) {
        make_plane_of_pixels(image, tile, columns, rows, to);
        continue;
      }
    }
    make_plane(image, tile, width, height, columns, rows, scratch.block_sums.data(), to);
  }
}

// The integral image of the tile's pixels.
void make_integral(const PackedModel& model, GrayView image, const Tile& tile, ScanScratch& scratch) {
  const Size window = model.model().window;
  const GrayView pixels(image.row(tile.y) + tile.x, tile.columns + window.width - 1,
                        tile.rows + window.height - 1, image.stride());
  scratch.words.resize(kPlane + kSheetSlack);
  IntegralSheet sheet;
  sheet.stride = kStride;
  sheet.plane = kPlane;
  SheetLevel level;
  level.size = pixels.size();
  integrate(pixels, sheet, level, 0, 0, pixels.height(), reinterpret_cast<std::byte*>(scratch.words.data()));
}

// Planes of a kind of feature for a tile, and a weak classifier's code there: `with` calls `use` with the
// code as a function of the window's position.
struct LbpLooks {
  static void make(const PackedModel& packed, GrayView image, const Tile& tile, ScanScratch& scratch) {
    make_planes(packed, image, tile, scratch, scratch.codes);
  }
  LbpLooks(const PackedModel& packed, const ScanScratch& scratch)
      : codes(scratch.codes.data()), offsets(packed.offsets().data()) {}
  template <class Use>
  HWY_INLINE int with(int t, const Use& use) const {
    return use([of = codes + offsets[t]](std::int32_t place) { return int{of[place]}; });
  }
  const std::uint8_t* codes;
  const std::int32_t* offsets;
};

struct RankLooks {
  static void make(const PackedModel& packed, GrayView image, const Tile& tile, ScanScratch& scratch) {
    make_planes(packed, image, tile, scratch, scratch.words);
  }
  RankLooks(const PackedModel& packed, const ScanScratch& scratch)
      : ranks(scratch.words.data()),
        offsets(packed.offsets().data()),
        features(packed.model().features.data()),
        is_lrp(packed.model().kind == FeatureKind::lrp) {}
  template <class Use>
  HWY_INLINE int with(int t, const Use& use) const {
    return use([of = ranks + offsets[t], first = int{features[t].first}, second = int{features[t].second},
                is_lrp = is_lrp](std::int32_t place) {
      return code_of_ranks(is_lrp, rank_in(of[place], first), rank_in(of[place], second));
    });
  }
  const std::uint32_t* ranks;
  const std::int32_t* offsets;
  const Feature* features;
  bool is_lrp;
};

struct HaarLooks {
  static void make(const PackedModel& packed, GrayView image, const Tile& tile, ScanScratch& scratch) {
    make_integral(packed, image, tile, scratch);
  }
  HaarLooks(const PackedModel& packed, const ScanScratch& scratch)
      : sums(scratch.words.data()), features(packed.model().features.data()) {}
  template <class Use>
  HWY_INLINE int with(int t, const Use& use) const {
    return use_haar_code(features[t], kStride, [&](const auto& code_of) {
      return use([of = sums, code_of](std::int32_t place) { return code_of(of + place); });
    });
  }
  const std::uint32_t* sums;
  const Feature* features;
};

// Places of the windows that the first weak classifier lets pass; how many they are.
HWY_INLINE int pass_first(const PackedModel& model, const Tile& tile, int y_begin, int y_end,
                          const std::uint8_t* codes, std::int32_t* places) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::uint8_t* const passes = model.first_passes().data();
  const auto low_half = hn::LoadDup128(d, passes), high_half = hn::LoadDup128(d, passes + 16);
  alignas(16) static constexpr std::uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                         1, 2, 4, 8, 16, 32, 64, 128};
  const auto bits = hn::LoadDup128(d, kBits);
  int count = 0;
  for (int y = y_begin; y < y_end; ++y) {
    const std::int32_t row = y * kStride;
    const std::uint8_t* const of_row = codes + model.offsets()[0] + row;
    for (int x = 0; x < tile.columns; x += lanes) {
      const auto code = hn::LoadU(d, of_row + x);
      const auto byte = hn::ShiftRight<3>(code);
      // TableLookupBytes may take any index below 16 alone.
      const auto index = hn::And(byte, hn::Set(d, std::uint8_t{15}));
      const auto is_high = hn::Gt(byte, hn::Set(d, std::uint8_t{15}));
      const auto set = hn::IfThenElse(is_high, hn::TableLookupBytes(high_half, index),
                                      hn::TableLookupBytes(low_half, index));
      const auto bit = hn::TableLookupBytes(bits, hn::And(code, hn::Set(d, std::uint8_t{7})));
      std::uint64_t passed = 0;
      hn::StoreMaskBits(d, hn::Ne(hn::And(set, bit), hn::Zero(d)), reinterpret_cast<std::uint8_t*>(&passed));
      const int here = std::min(lanes, tile.columns - x);
      passed &= ~std::uint64_t{0} >> (64 - here);
      for (; passed != 0; passed &= passed - 1) places[count++] = row + x + std::countr_zero(passed);
    }
  }
  return count;
}

// Places of all windows of these rows, and sums of 0; how many they are.
HWY_INLINE int list_all(const Tile& tile, int y_begin, int y_end, std::int32_t* places, std::int32_t* sums) {
  int count = 0;
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x < tile.columns; ++x, ++count) {
      places[count] = y * kStride + x;
      sums[count] = 0;
    }
  }
  return count;
}

// One weak classifier's look at the windows of a list, which it shortens; how many are left.
template <class CodeAt>
HWY_INLINE int pass_one(const std::int16_t* table, std::int32_t threshold, const CodeAt& code_at, int count,
                        std::int32_t* places, std::int32_t* sums) {
  int left = 0;
  for (int i = 0; i < count; ++i) {
    const std::int32_t place = places[i];
    const std::int32_t sum = sums[i] + table[code_at(place)];
    places[left] = place;
    sums[left] = sum;
    left += sum >= threshold ? 1 : 0;
  }
  return left;
}

// One window's way from a weak classifier on; the first that rejects it.
template <class Looks>
HWY_INLINE int pass_rest(const Model& model, const Looks& looks, int first, std::int32_t place,
                         std::int32_t& sum) {
  const std::int16_t* table = model.responses.data() + static_cast<std::ptrdiff_t>(first) * kCodes;
  int t = first;
  for (; t < model.size(); ++t, table += kCodes) {
    sum += table[looks.with(t, [&](const auto& code_at) { return code_at(place); })];
    if (sum < model.thresholds[static_cast<std::size_t>(t)]) break;
  }
  return t;
}

template <class Looks>
HWY_INLINE void scan_by(const PackedModel& packed, GrayView image, const Tile& tile, std::int32_t lowest,
                        ScanScratch& scratch, std::vector<Accepted>& accepted, std::span<std::int64_t> left) {
  const Model& model = packed.model();
  Looks::make(packed, image, tile, scratch);
  const Looks looks(packed, scratch);
  scratch.places.resize(static_cast<std::size_t>(std::min(kListRows, tile.rows)) *
                        static_cast<std::size_t>(tile.columns));
  scratch.sums.resize(scratch.places.size());
  std::int32_t* const places = scratch.places.data();
  std::int32_t* const sums = scratch.sums.data();
  const auto count_left = [&](int t, int count) {
    if (!left.empty()) left[static_cast<std::size_t>(t)] += count;
  };
  for (int y = 0; y < tile.rows; y += kListRows) {
    const int y_end = std::min(y + kListRows, tile.rows);
    int t = 0, count = 0;
    if constexpr (std::is_same_v<Looks, LbpLooks>) {
      count = pass_first(packed, tile, y, y_end, looks.codes, places);
      count_left(0, count);
      const std::uint8_t* const first = looks.codes + looks.offsets[0];
      for (int i = 0; i < count; ++i) sums[i] = model.responses[first[places[i]]];
      t = 1;
    } else {
      count = list_all(tile, y, y_end, places, sums);
    }
    for (; t < model.size() && count > kFewWindows; ++t) {
      const std::int16_t* const table = model.table(t).data();
      const std::int32_t threshold = model.thresholds[static_cast<std::size_t>(t)];
      count = looks.with(t, [&](const auto& code_at) HWY_ATTR {
        return pass_one(table, threshold, code_at, count, places, sums);
      });
      count_left(t, count);
    }
    for (int i = 0; i < count; ++i) {
      const int end = pass_rest(model, looks, t, places[i], sums[i]);
      for (int s = t; s < end; ++s) count_left(s, 1);
      if (end == model.size() && sums[i] >= lowest)
        accepted.push_back({tile.x + places[i] % kStride, tile.y + places[i] / kStride, sums[i]});
    }
  }
}

void scan_any_tile(const PackedModel& packed, GrayView image, const Tile& tile, std::int32_t lowest,
                   ScanScratch& scratch, std::vector<Accepted>& accepted, std::span<std::int64_t> left) {
  switch (packed.model().kind) {
    case FeatureKind::lbp:
      return scan_by<LbpLooks>(packed, image, tile, lowest, scratch, accepted, left);
    case FeatureKind::lrp:
    case FeatureKind::lrd:
      return scan_by<RankLooks>(packed, image, tile, lowest, scratch, accepted, left);
    case FeatureKind::haar:
      return scan_by<HaarLooks>(packed, image, tile, lowest, scratch, accepted, left);
  }
}

void make_codes_or_ranks(const PackedModel& packed, GrayView image, const Tile& tile, ScanScratch& scratch) {
  if (packed.model().kind == FeatureKind::lbp) {
    LbpLooks::make(packed, image, tile, scratch);
  } else {
    RankLooks::make(packed, image, tile, scratch);
  }
}

}  // namespace sightline::waldboost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::waldboost {
HWY_EXPORT(make_codes_or_ranks);
HWY_EXPORT(scan_any_tile);

void make_codes(const PackedModel& model, GrayView image, const Tile& tile, ScanScratch& scratch) {
  HWY_DYNAMIC_DISPATCH(make_codes_or_ranks)(model, image, tile, scratch);
}

void scan_tile(const PackedModel& model, GrayView image, const Tile& tile, std::int32_t lowest,
               ScanScratch& scratch, std::vector<Accepted>& accepted, std::span<std::int64_t> left) {
  HWY_DYNAMIC_DISPATCH(scan_any_tile)(model, image, tile, lowest, scratch, accepted, left);
}

}  // namespace sightline::waldboost
#endif  // HWY_ONCE
