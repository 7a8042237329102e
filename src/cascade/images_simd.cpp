// The SIMD forms of the stages `pyramid` and `integral`.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cascade/images_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>

#include "cascade/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::cascade::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::FixedTag<std::uint8_t, 16>;
using D16 = hn::FixedTag<std::uint16_t, 8>;
using D32 = hn::FixedTag<std::uint32_t, 4>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// --- resize
// ---------------------------------------------------------------------------------------------------

// Eight samples of one row, 16 bits each: exact.
HWY_INLINE V16 sample(const std::uint8_t* row, const SamplePlan::Group& group) {
  const D8 d8;
  const D16 d16;
  const auto low = hn::LoadU(d8, row + group.base[0]);
  const auto high = hn::LoadU(d8, row + group.base[1]);
  const auto spread = [&](const std::uint8_t(&tables)[2][16]) HWY_ATTR {
    return hn::BitCast(d16, hn::Or(hn::TableLookupBytesOr0(low, hn::LoadU(d8, tables[0])),
                                   hn::TableLookupBytesOr0(high, hn::LoadU(d8, tables[1]))));
  };
  return hn::Add(hn::Mul(spread(group.left), hn::LoadU(d16, group.left_weight)),
                 hn::Mul(spread(group.right), hn::LoadU(d16, group.right_weight)));
}

// (a u + b v + 2^15) >> 16, exact, with nothing wider than 16 bits: the halves of the products, and the carry
// of the lower ones.
HWY_INLINE V16 mix(V16 a, V16 u, V16 b, V16 v) {
  const D16 d16;
  const V16 low_a = hn::Mul(a, u);
  const V16 low_b = hn::Mul(b, v);
  const V16 odd = hn::And(hn::Xor(low_a, low_b), hn::Set(d16, 1));
  const V16 half = hn::Sub(hn::AverageRound(low_a, low_b), odd);  // of the lower halves' sum, rounded down
  const V16 carry = hn::ShiftRight<1>(hn::Add(hn::ShiftRight<14>(half), hn::Set(d16, 1)));
  return hn::Add(hn::Add(hn::MulHigh(a, u), hn::MulHigh(b, v)), carry);
}

void resize_row(const std::uint8_t* upper, const std::uint8_t* lower, int weight,
                const SamplePlan::Group* groups, std::size_t count, std::uint8_t* target) {
  const D16 d16;
  const hn::RebindToSigned<D16> di16;
  const hn::FixedTag<std::uint8_t, 8> d_out;
  const V16 upper_weight = hn::Set(d16, static_cast<std::uint16_t>(256 - weight));
  const V16 lower_weight = hn::Set(d16, static_cast<std::uint16_t>(weight));
  for (std::size_t g = 0; g < count; ++g) {
    const V16 mixed = mix(sample(upper, groups[g]), upper_weight, sample(lower, groups[g]), lower_weight);
    hn::StoreU(hn::DemoteTo(d_out, hn::BitCast(di16, mixed)), d_out, target + 8 * g);
  }
}

// --- integral
// -------------------------------------------------------------------------------------------------

// Sums from the first lane to each.
HWY_INLINE V16 prefix(V16 v) {
  const D16 d;
  v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
  v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
  return hn::Add(v, hn::ShiftLeftLanes<4>(d, v));
}
HWY_INLINE V32 prefix(V32 v) {
  const D32 d;
  v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
  return hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
}

struct Values {
  static HWY_INLINE V16 of(V16 pixels) { return pixels; }
};
struct Squares {
  static HWY_INLINE V16 of(V16 pixels) { return hn::Mul(pixels, pixels); }
};

// A vector of a row's sums, on top of those of the row above.
HWY_INLINE void store_plain(V16 sums, const std::uint16_t* above, std::uint16_t* row) {
  const D16 d;
  hn::StoreU(hn::Add(sums, hn::LoadU(d, above)), d, row);
}
HWY_INLINE void store_plain(V32 sums, const std::uint32_t* above, std::uint32_t* row) {
  const D32 d;
  hn::StoreU(hn::Add(sums, hn::LoadU(d, above)), d, row);
}

// `even` and `odd` are where columns 0 and 1 of the row lie; `carry` is the sum of the row up to here, in all
// lanes.
template <class Of, int kStep>
HWY_INLINE void integrate_row(const std::uint8_t* pixels, int width, std::ptrdiff_t stride,
                              std::uint16_t* even, std::uint16_t* odd) {
  const D16 d;
  const hn::FixedTag<std::uint8_t, 8> d8;
  V16 carry = hn::Zero(d);
  for (int x = 0; x < width; x += 16) {
    const V16 low = hn::Add(prefix(Of::of(hn::PromoteTo(d, hn::LoadU(d8, pixels + x)))), carry);
    carry = hn::Broadcast<7>(low);
    const V16 high = hn::Add(prefix(Of::of(hn::PromoteTo(d, hn::LoadU(d8, pixels + x + 8)))), carry);
    carry = hn::Broadcast<7>(high);
    if constexpr (kStep == 1) {
      store_plain(low, even + x + 1 - stride, even + x + 1);
      store_plain(high, even + x + 9 - stride, even + x + 9);
    } else {
      std::uint16_t* const o = odd + x / 2;
      std::uint16_t* const e = even + x / 2 + 1;
      store_plain(hn::ConcatEven(d, high, low), o - stride, o);
      store_plain(hn::ConcatOdd(d, high, low), e - stride, e);
    }
  }
}

template <class Of, int kStep>
HWY_INLINE void integrate_row(const std::uint8_t* pixels, int width, std::ptrdiff_t stride,
                              std::uint32_t* even, std::uint32_t* odd) {
  const D32 d;
  const D16 d16;
  const hn::FixedTag<std::uint16_t, 4> d_half;
  const hn::FixedTag<std::uint8_t, 8> d8;
  V32 carry = hn::Zero(d);
  for (int x = 0; x < width; x += 8) {
    const V16 values = Of::of(hn::PromoteTo(d16, hn::LoadU(d8, pixels + x)));
    const V32 low = hn::Add(prefix(hn::PromoteTo(d, hn::LowerHalf(d_half, values))), carry);
    carry = hn::Broadcast<3>(low);
    const V32 high = hn::Add(prefix(hn::PromoteTo(d, hn::UpperHalf(d_half, values))), carry);
    carry = hn::Broadcast<3>(high);
    if constexpr (kStep == 1) {
      store_plain(low, even + x + 1 - stride, even + x + 1);
      store_plain(high, even + x + 5 - stride, even + x + 5);
    } else {
      std::uint32_t* const o = odd + x / 2;
      std::uint32_t* const e = even + x / 2 + 1;
      store_plain(hn::ConcatEven(d, high, low), o - stride, o);
      store_plain(hn::ConcatOdd(d, high, low), e - stride, e);
    }
  }
}

template <class Of, typename Sum>
HWY_INLINE void integrate_upright(GrayView image, const Layout& layout, const Level& level, Sum* plane,
                                  int y_begin, int y_end) {
  const std::ptrdiff_t stride = layout.stride;
  const int columns = image.width() + 1;
  Sum* even = plane + level.origin + y_begin * stride;
  Sum* odd = even + layout.column(level.step, 1);
  std::fill_n(even, level.step == 1 ? columns : (columns + 1) / 2, Sum{0});
  if (level.step == 2) std::fill_n(odd, columns / 2, Sum{0});
  for (int y = y_begin; y < y_end; ++y) {
    even += stride;
    odd += stride;
    *even = 0;
    if (level.step == 1) {
      integrate_row<Of, 1>(image.row(y), image.width(), stride, even, odd);
    } else {
      integrate_row<Of, 2>(image.row(y), image.width(), stride, even, odd);
    }
  }
}

void integrate_small(GrayView image, const Layout& layout, const Level& level, std::uint16_t* plane,
                     int y_begin, int y_end) {
  integrate_upright<Values>(image, layout, level, plane, y_begin, y_end);
}
void integrate_values(GrayView image, const Layout& layout, const Level& level, std::uint32_t* plane,
                      int y_begin, int y_end) {
  integrate_upright<Values>(image, layout, level, plane, y_begin, y_end);
}
void integrate_squares(GrayView image, const Layout& layout, const Level& level, std::uint32_t* plane,
                       int y_begin, int y_end) {
  integrate_upright<Squares>(image, layout, level, plane, y_begin, y_end);
}

}  // namespace sightline::cascade::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::cascade {
HWY_EXPORT(resize_row);
HWY_EXPORT(integrate_small);
HWY_EXPORT(integrate_values);
HWY_EXPORT(integrate_squares);

void resize_rows(GrayView frame, const SamplePlan& plan, int y_begin, int y_end,
                 ImageView<std::uint8_t> image) {
  constexpr int kOne = 256;
  const int done = static_cast<int>(plan.groups.size()) * 8;
  for (int y = y_begin; y < y_end; ++y) {
    if (plan.is_copy) {
      std::copy_n(frame.row(y), image.width(), image.row(y));
      continue;
    }
    const std::uint8_t* const upper = frame.row(plan.rows.first[y]);
    const std::uint8_t* const lower = frame.row(plan.rows.second[y]);
    const int weight = plan.rows.weight[y];
    HWY_DYNAMIC_DISPATCH(resize_row)
    (upper, lower, weight, plan.groups.data(), plan.groups.size(), image.row(y));
    for (int x = done; x < image.width(); ++x) {
      const auto sample = [&](const std::uint8_t* row) {
        return row[plan.columns.first[x]] * (kOne - plan.columns.weight[x]) +
               row[plan.columns.second[x]] * plan.columns.weight[x];
      };
      image.at(x, y) = static_cast<std::uint8_t>(
          (sample(upper) * (kOne - weight) + sample(lower) * weight + kOne * kOne / 2) / (kOne * kOne));
    }
  }
}

void integrate(GrayView image, const Layout& layout, const Level& level, int plane, int y_begin, int y_end,
               std::byte* integrals) {
  if (layout.element_bytes == 2) {
    HWY_DYNAMIC_DISPATCH(integrate_small)
    (image, layout, level, reinterpret_cast<std::uint16_t*>(integrals), y_begin, y_end);
    return;
  }
  std::uint32_t* const sums = reinterpret_cast<std::uint32_t*>(integrals) + plane * layout.plane;
  if (plane == Layout::kTilted) {
    reference::integrate(image, layout, level, plane, y_begin, y_end, integrals);
  } else if (plane == Layout::kSquares) {
    HWY_DYNAMIC_DISPATCH(integrate_squares)(image, layout, level, sums, y_begin, y_end);
  } else {
    HWY_DYNAMIC_DISPATCH(integrate_values)(image, layout, level, sums, y_begin, y_end);
  }
}

}  // namespace sightline::cascade
#endif  // HWY_ONCE
