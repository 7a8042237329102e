// The scan of a tile in SIMD: codes of its pixels, and its windows on their way through the stages.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/census/scan_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "detectors/census/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::census::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kStride = PackedModel::kStride;
constexpr int kBlock = 16;  // bytes that TableLookupBytes looks up among

using Bytes = hn::CappedTag<std::uint8_t, 64>;
using Words = hn::ScalableTag<std::uint16_t>;
using HalfBytes = hn::Rebind<std::uint8_t, Words>;

// Means of the neighbourhoods whose upper left pixels are those of a row, rounded down: a pixel is above the
// mean if it is above this. Neighbours lie a step apart in the row, and a stride apart between rows.
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

// Allocates at least a plane. Vectors read past the computed part of a row, where values must be valid byte
// numbers, too.
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
  constexpr int kReach = 2 * kCensusSide - 1;  // reach of a neighbourhood beyond its upper left pixel
  make_plane(scratch.cells.data(), kStride, 2, {pixels.width - kReach, pixels.height - kReach},
             scratch.bytes.data() + PackedModel::kPlane, scratch.bits.data() + PackedModel::kPlane, scratch);
}

// Non-zero for codes in a set; `index` is the number of a code's byte, 0..63.
template <class V>
HWY_INLINE V look_up(Bytes d, const PackedSet& set, V index, V bits) {
  // An index below the block then has its highest bit set, and the look-up gives 0.
  const auto part = [&](int block) HWY_ATTR {
    const V own = hn::Sub(index, hn::Set(d, static_cast<std::uint8_t>(block * kBlock)));
    return hn::TableLookupBytesOr0(hn::LoadDup128(d, set.steps.data() + block * kBlock), own);
  };
  return hn::And(hn::Xor(hn::Xor(part(0), part(1)), hn::Xor(part(2), part(3))), bits);
}

// Mask of the sums that do not exceed a limit.
template <class V>
HWY_INLINE std::uint64_t not_above(Bytes d, V sum, V limit) {
  std::uint64_t kept = 0;
  hn::StoreMaskBits(d, hn::Eq(hn::SaturatedSub(sum, limit), hn::Zero(d)),
                    reinterpret_cast<std::uint8_t*>(&kept));
  return kept;
}

// Runs the list's vectors of windows through one stage, two at a time, which share the stage's data. Returns
// the number of vectors with a window left.
int pass_vectors(const PackedModel& packed, int stage, int count, ScanScratch& scratch,
                 std::span<std::int64_t> left) {
  const Bytes d;
  std::int32_t* const corners = scratch.corners.data();
  std::uint64_t* const passed = scratch.passed.data();
  const auto limit = hn::Set(d, static_cast<std::uint8_t>(packed.limit(stage)));
  // The last one may need another beside it.
  corners[count] = corners[0];
  passed[count] = 0;
  int kept = 0;
  for (int i = 0; i < count; i += 2) {
    const std::int32_t corner[] = {corners[i], corners[i + 1]};
    auto first = hn::Zero(d), second = hn::Zero(d);
    for (const PackedWeakClassifier& look : packed.packed_stage(stage)) {
      const auto add = [&](auto sum, std::ptrdiff_t place) HWY_ATTR {
        const auto found = look_up(d, look.set, hn::LoadU(d, scratch.bytes.data() + place),
                                   hn::LoadU(d, scratch.bits.data() + place));
        const auto weight = hn::IfThenZeroElse(hn::Eq(found, hn::Zero(d)), hn::Set(d, look.weight));
        return hn::SaturatedAdd(sum, weight);
      };
      first = add(first, corner[0] + look.offset);
      second = add(second, corner[1] + look.offset);
    }
    const std::uint64_t rest[] = {passed[i] & not_above(d, first, limit),
                                  passed[i + 1] & not_above(d, second, limit)};
    for (int k = 0; k < 2; ++k) {
      corners[kept] = corner[k];
      passed[kept] = rest[k];
      kept += rest[k] != 0 ? 1 : 0;
      if (!left.empty()) left[static_cast<std::size_t>(stage)] += std::popcount(rest[k]);
    }
  }
  return kept;
}

// Places of the tile's windows that the stages [begin, end) leave, row by row; how many they are.
int pass_tile(const PackedModel& packed, int begin, int end, const WindowTile& tile, ScanScratch& scratch,
              std::span<std::int64_t> left) {
  const int lanes = static_cast<int>(hn::Lanes(Bytes()));
  const int most = tile.rows * ((tile.columns + lanes - 1) / lanes) + 1;  // see pass_vectors
  scratch.corners.resize(static_cast<std::size_t>(most));
  scratch.passed.resize(static_cast<std::size_t>(most));
  int vectors = 0;
  for (int y = 0; y < tile.rows; ++y) {
    for (int x = 0; x < tile.columns; x += lanes) {
      scratch.corners[vectors] = y * kStride + x;
      scratch.passed[vectors++] = ~std::uint64_t{0} >> (64 - std::min(lanes, tile.columns - x));
    }
  }
  for (int s = begin; s < end; ++s) vectors = pass_vectors(packed, s, vectors, scratch, left);
  int count = 0;
  for (int i = 0; i < vectors; ++i) {
    for (std::uint64_t rest = scratch.passed[i]; rest != 0; rest &= rest - 1)
      scratch.places[count++] = scratch.corners[i] + std::countr_zero(rest);
  }
  return count;
}

// Eight bytes of each of as many windows as a vector has room for: a block of 16 bytes has those of one
// window and of the next, the block after it those of the windows 16 further on.
template <class D>
HWY_INLINE hn::Vec<D> load_pieces(D d, const std::uint8_t* bytes, const std::int32_t* places) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  if constexpr (kLanes == GatheredStage::kRun) {
    return hn::LoadU(d, bytes + *places);
  } else {
    const hn::Half<D> half;
    const std::int32_t* const others = places + (kLanes == kBlock ? 1 : kLanes / 2);
    return hn::Combine(d, load_pieces(half, bytes, others), load_pieces(half, bytes, places));
  }
}

// Codes of a run of places in a vector of windows: into `run`, a vector for each place.
HWY_INLINE void gather_run(const std::uint8_t* bytes, const std::int32_t* places, std::uint8_t* run) {
  const Bytes d;
  constexpr int kRun = GatheredStage::kRun;
  hn::Vec<Bytes> in[kRun], out[kRun];
  for (int i = 0; i < kRun; ++i) out[i] = load_pieces(d, bytes, places + 2 * i);
  // The byte of window w and place p is the one with the number 8 w + p, a number of seven bits, in the same
  // block of all vectors. To interleave their halves turns the bits of all numbers by one; after four times,
  // it is 16 p + w.
  for (int turn = 0; turn < 4; ++turn) {
    std::copy_n(out, kRun, in);
    for (int i = 0; i < kRun / 2; ++i) {
      out[2 * i] = hn::InterleaveLower(d, in[i], in[i + kRun / 2]);
      out[2 * i + 1] = hn::InterleaveUpper(d, in[i], in[i + kRun / 2]);
    }
  }
  for (int i = 0; i < kRun; ++i) hn::Store(out[i], d, run + i * hn::Lanes(d));
}

// The sums of a vector of windows.
HWY_INLINE void sum_gathered(const GatheredStage& stage, const ScanScratch& scratch,
                             const std::int32_t* places, std::int32_t* sums) {
  const Bytes d;
  const hn::RepartitionToWide<Bytes> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const std::size_t lanes = hn::Lanes(d);
  alignas(64) std::uint8_t bytes[GatheredStage::kRun * hn::MaxLanes(Bytes())];
  alignas(64) std::uint8_t bits[GatheredStage::kRun * hn::MaxLanes(Bytes())];
  hn::Vec<decltype(d32)> all[4] = {hn::Zero(d32), hn::Zero(d32), hn::Zero(d32), hn::Zero(d32)};
  int look = 0;
  for (const GatheredStage::Run& run : stage.runs) {
    gather_run(scratch.bytes.data() + run.offset, places, bytes);
    gather_run(scratch.bits.data() + run.offset, places, bits);
    auto lower = hn::Zero(d16), upper = hn::Zero(d16);
    for (; look < run.end; ++look) {
      const std::size_t at = stage.columns[look] * lanes;
      const auto found = look_up(d, stage.sets[look], hn::Load(d, bytes + at), hn::Load(d, bits + at));
      const auto none = hn::VecFromMask(d, hn::Eq(found, hn::Zero(d)));
      const auto weight = hn::Set(d16, stage.weights[look]);
      lower = hn::Add(lower, hn::AndNot(hn::BitCast(d16, hn::InterleaveLower(d, none, none)), weight));
      upper = hn::Add(upper, hn::AndNot(hn::BitCast(d16, hn::InterleaveUpper(d, none, none)), weight));
    }
    const auto zero = hn::Zero(d16);
    all[0] = hn::Add(all[0], hn::BitCast(d32, hn::InterleaveLower(d16, lower, zero)));
    all[1] = hn::Add(all[1], hn::BitCast(d32, hn::InterleaveUpper(d16, lower, zero)));
    all[2] = hn::Add(all[2], hn::BitCast(d32, hn::InterleaveLower(d16, upper, zero)));
    all[3] = hn::Add(all[3], hn::BitCast(d32, hn::InterleaveUpper(d16, upper, zero)));
  }
  // A block of 16 windows has become a block in each of the four.
  alignas(64) std::uint32_t parts[4][hn::MaxLanes(d32)];
  for (int part = 0; part < 4; ++part) hn::Store(all[part], d32, parts[part]);
  for (std::size_t i = 0; i < lanes; ++i)
    sums[i] = static_cast<std::int32_t>(parts[i % kBlock / 4][i / kBlock * 4 + i % 4]);
}

// The list's windows through one stage, whose sums they then have; how many are left.
int pass_list(const PackedModel& packed, int stage, int count, ScanScratch& scratch) {
  const int lanes = static_cast<int>(hn::Lanes(Bytes()));
  const std::int32_t limit = packed.limit(stage);
  int kept = 0;
  for (int first = 0; first < count; first += lanes) {
    std::int32_t places[hn::MaxLanes(Bytes())], sums[hn::MaxLanes(Bytes())];
    const int here = std::min(lanes, count - first);
    std::copy_n(scratch.places.data() + first, here, places);
    std::fill(places + here, places + lanes, places[0]);
    sum_gathered(packed.gathered_stage(stage), scratch, places, sums);
    for (int i = 0; i < here; ++i) {
      scratch.places[kept] = places[i];
      scratch.sums[kept] = sums[i];
      kept += sums[i] <= limit ? 1 : 0;
    }
  }
  return kept;
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
      count = pass_list(packed, s, count, scratch);
      if (!left.empty()) left[static_cast<std::size_t>(s)] += count;
    }
    for (int i = 0; i < count; ++i) {
      const std::int32_t place = scratch.places[i];
      accepted.push_back(
          {view, tile.x + place % kStride, tile.y + place / kStride, threshold - scratch.sums[i]});
    }
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
