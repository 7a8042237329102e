// The scan of a tile in SIMD: codes of its pixels, and its windows on their way through the stages.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "census/scan_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "census/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::census::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kStride = PackedModel::kStride;
constexpr int kBlock = 16;  // bytes that TableLookupBytes looks up among

using Bytes = hn::CappedTag<std::uint8_t, 64>;
using Words = hn::ScalableTag<std::uint16_t>;
using HalfBytes = hn::Rebind<std::uint8_t, Words>;

// Of the neighbourhoods whose upper left pixels are those of a row, rounded down: a pixel is above the mean
// where it is above this. Neighbours lie a step apart in the row, and a stride apart between rows.
HWY_INLINE void make_means(const std::uint8_t* row, std::ptrdiff_t stride, int step, int count,
                           std::uint16_t* column_sums, std::uint8_t* means) {
  const Words d;
  const HalfBytes half;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < count + (kCensusSide - 1) * step; x += lanes) {
    auto sum = hn::PromoteTo(d, hn::LoadU(half, row + x));
    sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(half, row + stride + x)));
    sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(half, row + 2 * stride + x)));
    hn::StoreU(sum, d, column_sums + x);
  }
  // 7282 / 2^16 is above 1/9 by so little that up to 9 * 255 it gives the same whole numbers.
  const auto ninth = hn::Set(d, std::uint16_t{7282});
  for (int x = 0; x < count; x += lanes) {
    const auto sum = hn::Add(hn::Add(hn::LoadU(d, column_sums + x), hn::LoadU(d, column_sums + x + step)),
                             hn::LoadU(d, column_sums + x + 2 * step));
    const auto mean = hn::BitCast(hn::RebindToSigned<Words>(), hn::MulHigh(sum, ninth));
    hn::StoreU(hn::DemoteTo(half, mean), half, means + x);
  }
}

// Codes of a plane, of neighbours that lie a step apart in the rows of `image` and between them.
void make_plane(const std::uint8_t* image, std::ptrdiff_t stride, int step, Size size, std::uint8_t* bytes,
                std::uint8_t* bits, ScanScratch& scratch) {
  const hn::ScalableTag<std::uint8_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  alignas(kBlock) static constexpr std::uint8_t kBits[kBlock] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                                 1, 2, 4, 8, 16, 32, 64, 128};
  const auto bit_of = hn::LoadDup128(d, kBits);
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* const row = image + y * stride;
    make_means(row, step * stride, step, size.width, scratch.column_sums.data(), scratch.means.data());
    for (int x = 0; x < size.width; x += lanes) {
      const auto mean = hn::LoadU(d, scratch.means.data() + x);
      const auto is_above = [&](int pixel, int bit) HWY_ATTR {
        const auto value =
            hn::LoadU(d, row + step * (pixel / kCensusSide * stride + pixel % kCensusSide) + x);
        return hn::IfThenElseZero(hn::Gt(value, mean), hn::Set(d, static_cast<std::uint8_t>(bit)));
      };
      auto upper = is_above(0, 32);
      for (int pixel = 1; pixel < 6; ++pixel) upper = hn::Or(upper, is_above(pixel, 32 >> pixel));
      const auto lower = hn::Or(hn::Or(is_above(6, 4), is_above(7, 2)), is_above(8, 1));
      hn::StoreU(upper, d, bytes + y * kStride + x);
      hn::StoreU(hn::TableLookupBytes(bit_of, lower), d, bits + y * kStride + x);
    }
  }
}

// Means of 2x2 pixels, one at each pixel.
void make_cells(const std::uint8_t* image, std::ptrdiff_t stride, Size size, std::uint8_t* cells) {
  const Words d;
  const HalfBytes half;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* const row = image + y * stride;
    for (int x = 0; x < size.width; x += lanes) {
      const auto pixels = [&](std::ptrdiff_t at)
                              HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(half, row + x + at)); };
      const auto sum = hn::Add(hn::Add(pixels(0), pixels(1)), hn::Add(pixels(stride), pixels(stride + 1)));
      const auto mean = hn::ShiftRight<2>(hn::Add(sum, hn::Set(d, std::uint16_t{2})));
      hn::StoreU(hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<Words>(), mean)), half,
                 cells + y * kStride + x);
    }
  }
}

// Bytes of a plane or more; vectors reach beyond what is made of a row: there, too, it has to be some byte's
// number.
void fit_planes(AlignedBuffer<std::uint8_t>& planes, int count) {
  const std::size_t size = static_cast<std::size_t>(count) * PackedModel::kPlane;
  if (planes.size() >= size) return;
  planes.resize(size);
  std::fill_n(planes.data(), size, std::uint8_t{0});
}

void make_all_codes(GrayView image, const WindowTile& tile, Size window, int most_cell,
                    ScanScratch& scratch) {
  fit_planes(scratch.bytes, most_cell);
  fit_planes(scratch.bits, most_cell);
  scratch.column_sums.resize(kStride + kMaxWindow);
  scratch.means.resize(kStride + kMaxWindow);
  const Size pixels{tile.columns + window.width - 1, tile.rows + window.height - 1};
  const std::uint8_t* const corner = image.row(tile.y) + tile.x;
  make_plane(corner, image.stride(), 1, {pixels.width - kCensusSide + 1, pixels.height - kCensusSide + 1},
             scratch.bytes.data(), scratch.bits.data(), scratch);
  if (most_cell == 1) return;
  fit_planes(scratch.cells, 1);
  make_cells(corner, image.stride(), {pixels.width - 1, pixels.height - 1}, scratch.cells.data());
  constexpr int kReach = 2 * kCensusSide - 1;  // of a neighbourhood beyond its upper left pixel
  make_plane(scratch.cells.data(), kStride, 2, {pixels.width - kReach, pixels.height - kReach},
             scratch.bytes.data() + PackedModel::kPlane, scratch.bits.data() + PackedModel::kPlane, scratch);
}

// The weights of a weak classifier at codes whose bytes' numbers, 0..63, are `index`; see SideBySide.
template <class V>
HWY_INLINE V weights_of(Bytes d, const SideBySide& look, V index, V bits) {
  // Of an index below a block, the highest bit is set then, and there is nothing.
  const auto part = [&](int block) HWY_ATTR {
    const V own = hn::Sub(index, hn::Set(d, static_cast<std::uint8_t>(block * kBlock)));
    return hn::TableLookupBytesOr0(hn::LoadDup128(d, look.steps.data() + block * kBlock), own);
  };
  const V bytes = hn::Xor(hn::Xor(part(0), part(1)), hn::Xor(part(2), part(3)));
  return hn::IfThenZeroElse(hn::Eq(hn::And(bytes, bits), hn::Zero(d)), hn::Set(d, look.weight));
}

// Of a vector of sums: where they do not exceed a limit.
template <class V>
HWY_INLINE std::uint64_t not_above(Bytes d, V sum, V limit) {
  std::uint64_t kept = 0;
  hn::StoreMaskBits(d, hn::Eq(hn::SaturatedSub(sum, limit), hn::Zero(d)),
                    reinterpret_cast<std::uint8_t*>(&kept));
  return kept;
}

// Of two vectors of windows, one below the other, whose corners' codes are at `place`: those that the stages
// [begin, end) leave. `passed`, those that exist at first.
HWY_INLINE void pass_two(const PackedModel& packed, int begin, int end, const ScanScratch& scratch,
                         std::int32_t place, std::uint64_t (&passed)[2], std::span<std::int64_t> left) {
  const Bytes d;
  const std::uint8_t* const bytes = scratch.bytes.data() + place;
  const std::uint8_t* const bits = scratch.bits.data() + place;
  for (int s = begin; s < end && (passed[0] | passed[1]) != 0; ++s) {
    auto upper = hn::Zero(d), lower = hn::Zero(d);
    for (const SideBySide& look : packed.side_by_side(s)) {
      const std::ptrdiff_t at = look.offset;
      upper = hn::SaturatedAdd(upper, weights_of(d, look, hn::LoadU(d, bytes + at), hn::LoadU(d, bits + at)));
      lower = hn::SaturatedAdd(
          lower, weights_of(d, look, hn::LoadU(d, bytes + at + kStride), hn::LoadU(d, bits + at + kStride)));
    }
    const auto limit = hn::Set(d, static_cast<std::uint8_t>(packed.limit(s)));
    passed[0] &= not_above(d, upper, limit);
    passed[1] &= not_above(d, lower, limit);
    if (!left.empty())
      left[static_cast<std::size_t>(s)] += std::popcount(passed[0]) + std::popcount(passed[1]);
  }
}

// Places of the tile's windows that the stages [begin, end) leave; how many they are.
int pass_tile(const PackedModel& packed, int begin, int end, const WindowTile& tile, ScanScratch& scratch,
              std::span<std::int64_t> left) {
  const int lanes = static_cast<int>(hn::Lanes(Bytes()));
  int count = 0;
  for (int y = 0; y < tile.rows; y += 2) {
    for (int x = 0; x < tile.columns; x += lanes) {
      const int here = std::min(lanes, tile.columns - x);
      const std::int32_t place = y * kStride + x;
      const std::uint64_t exist = ~std::uint64_t{0} >> (64 - here);
      std::uint64_t passed[2] = {exist, y + 1 < tile.rows ? exist : 0};
      pass_two(packed, begin, end, scratch, place, passed, left);
      for (int row = 0; row < 2; ++row) {
        for (std::uint64_t rest = passed[row]; rest != 0; rest &= rest - 1)
          scratch.places[count++] = place + row * kStride + std::countr_zero(rest);
      }
    }
  }
  return count;
}

// The list's windows through one stage, whose sums they then have; how many are left. A few looks at a time,
// without a branch: which windows have a code, and which are left, is hard to foresee.
int pass_stage(const PackedModel& packed, int stage, int count, ScanScratch& scratch) {
  const std::int32_t limit = packed.limit(stage);
  const OneByOne& looks = packed.one_by_one(stage);
  std::int32_t* const places = scratch.places.data();
  std::int32_t* const sums = scratch.sums.data();
  std::fill_n(sums, count, 0);
  for (std::size_t first = 0; first < looks.sets.size() && count > 0; first += OneByOne::kAtOnce) {
    const std::int32_t* const offsets = looks.offsets.data() + first;
    const std::int32_t* const weights = looks.weights.data() + first;
    const OneByOne::Set* const sets = looks.sets.data() + first;
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      const std::uint8_t* const bytes = scratch.bytes.data() + places[i];
      const std::uint8_t* const bits = scratch.bits.data() + places[i];
      std::int32_t sum = sums[i];
      for (int k = 0; k < OneByOne::kAtOnce; ++k) {
        const bool is_in = (sets[k].codes[bytes[offsets[k]]] & bits[offsets[k]]) != 0;
        sum += -std::int32_t{is_in} & weights[k];
      }
      places[kept] = places[i];
      sums[kept] = sum;
      kept += sum <= limit ? 1 : 0;
    }
    count = kept;
  }
  return count;
}

void scan_whole_tile(const PackedModel& packed, GrayView image, const WindowTile& tile, int early_stages,
                     ScanScratch& scratch, std::vector<Accepted>& accepted, std::span<std::int64_t> left) {
  const Model& model = packed.model();
  make_all_codes(image, tile, model.window, packed.most_cell(), scratch);
  scratch.places.resize(static_cast<std::size_t>(tile.rows) * static_cast<std::size_t>(tile.columns));
  scratch.sums.resize(scratch.places.size());
  for (int view = 0; view < static_cast<int>(model.views.size()); ++view) {
    const int begin = model.first_stage(view), end = model.views[static_cast<std::size_t>(view)].end;
    const std::int32_t threshold = model.stages[static_cast<std::size_t>(end) - 1].threshold;
    int lists = begin;
    while (lists < std::min(begin + early_stages, end) && packed.fits_bytes(lists)) ++lists;
    int count = pass_tile(packed, begin, lists, tile, scratch, left);
    for (int s = lists; s < end && count > 0; ++s) {
      count = pass_stage(packed, s, count, scratch);
      if (!left.empty()) left[static_cast<std::size_t>(s)] += count;
    }
    const auto first = static_cast<std::ptrdiff_t>(accepted.size());
    for (int i = 0; i < count; ++i) {
      const std::int32_t place = scratch.places[i];
      accepted.push_back(
          {view, tile.x + place % kStride, tile.y + place / kStride, threshold - scratch.sums[i]});
    }
    // Two rows have been in the list together.
    std::sort(accepted.begin() + first, accepted.end(),
              [](const Accepted& a, const Accepted& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; });
  }
}

}  // namespace sightline::census::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::census {
HWY_EXPORT(make_all_codes);
HWY_EXPORT(scan_whole_tile);

void make_codes(GrayView image, const WindowTile& tile, Size window, int most_cell, ScanScratch& scratch) {
  HWY_DYNAMIC_DISPATCH(make_all_codes)(image, tile, window, most_cell, scratch);
}

void scan_tile(const PackedModel& model, GrayView image, const WindowTile& tile, int early_stages,
               ScanScratch& scratch, std::vector<Accepted>& accepted, std::span<std::int64_t> left) {
  HWY_DYNAMIC_DISPATCH(scan_whole_tile)(model, image, tile, early_stages, scratch, accepted, left);
}

}  // namespace sightline::census
#endif  // HWY_ONCE
