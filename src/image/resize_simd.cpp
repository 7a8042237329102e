// The SIMD forms of the pyramid's two steps; `pyramid.cpp` holds the scalar references.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/resize_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "image/pyramid.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Eight target pixels of one source row, 10 bits each.
template <class D8, class D16>
HWY_INLINE hn::VFromD<D16> resize_columns(D8 d8, D16 d16, const std::uint8_t* row,
                                          const Resizer::ColumnGroup& group) {
  const auto pixels = hn::LoadU(d8, row + group.base);
  const auto left = hn::BitCast(d16, hn::TableLookupBytesOr0(pixels, hn::LoadU(d8, group.left)));
  const auto right = hn::BitCast(d16, hn::TableLookupBytesOr0(pixels, hn::LoadU(d8, group.right)));
  const auto sum = hn::Add(hn::Mul(left, hn::LoadU(d16, group.left_weight)),
                           hn::Mul(right, hn::LoadU(d16, group.right_weight)));
  return hn::ShiftRight<4>(hn::Add(sum, hn::Set(d16, 8)));
}

void resize_row(const std::uint8_t* top, const std::uint8_t* bottom, int weight,
                const Resizer::ColumnGroup* groups, std::size_t count, std::uint8_t* target) {
  const hn::FixedTag<std::uint8_t, 16> d8;
  const hn::FixedTag<std::uint16_t, 8> d16;
  const hn::FixedTag<std::int16_t, 8> di16;
  const hn::FixedTag<std::uint8_t, 8> d_out;
  const auto top_weight = hn::Set(d16, static_cast<std::uint16_t>(kResizeOne - weight));
  const auto bottom_weight = hn::Set(d16, static_cast<std::uint16_t>(weight));
  const auto half = hn::Set(d16, 128);
  for (std::size_t g = 0; g < count; ++g) {
    const auto h0 = resize_columns(d8, d16, top, groups[g]);
    const auto h1 = resize_columns(d8, d16, bottom, groups[g]);
    const auto sum = hn::Add(hn::Add(hn::Mul(h0, top_weight), hn::Mul(h1, bottom_weight)), half);
    hn::StoreU(hn::DemoteTo(d_out, hn::BitCast(di16, hn::ShiftRight<8>(sum))), d_out, target + 8 * g);
  }
}

// Target pixels [0, whole vectors); returns how many were written.
int halve_row(const std::uint8_t* top, const std::uint8_t* bottom, std::uint8_t* target, int width) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::RebindToSigned<decltype(d16)> di16;
  const hn::Repartition<std::uint8_t, decltype(d16)> d8;
  const hn::Rebind<std::uint8_t, decltype(d16)> d_out;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto low = hn::Set(d16, 0xFF);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto a = hn::BitCast(d16, hn::LoadU(d8, top + 2 * x));
    const auto b = hn::BitCast(d16, hn::LoadU(d8, bottom + 2 * x));
    const auto sum = hn::Add(hn::Add(hn::And(a, low), hn::ShiftRight<8>(a)),
                             hn::Add(hn::And(b, low), hn::ShiftRight<8>(b)));
    const auto mean = hn::ShiftRight<2>(hn::Add(sum, hn::Set(d16, 2)));
    hn::StoreU(hn::DemoteTo(d_out, hn::BitCast(di16, mean)), d_out, target + x);
  }
  return x;
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline {
HWY_EXPORT(resize_row);
HWY_EXPORT(halve_row);

namespace {
// The part of a view that starts at column `x`.
template <typename T>
ImageView<T> from_column(ImageView<T> view, int x) {
  return {view.data() + x, view.width() - x, view.height(), view.stride()};
}
}  // namespace

void Resizer::run(GrayView source, ImageView<std::uint8_t> target, int y_begin, int y_end) const {
  const int done = 8 * static_cast<int>(groups_.size());
  for (int y = y_begin; y < y_end; ++y) {
    const int weight = rows_.weight[y];
    const std::uint8_t* top = source.row(rows_.first[y]);
    const std::uint8_t* bottom = weight == 0 ? top : top + source.stride();
    HWY_DYNAMIC_DISPATCH(resize_row)(top, bottom, weight, groups_.data(), groups_.size(), target.row(y));
    run_columns(source, target, y, done);
  }
}

void halve(GrayView source, ImageView<std::uint8_t> target, int y_begin, int y_end) {
  for (int y = y_begin; y < y_end; ++y) {
    const int done = HWY_DYNAMIC_DISPATCH(halve_row)(source.row(2 * y), source.row(2 * y + 1), target.row(y),
                                                     target.width());
    const GrayView rest{source.data() + 2 * done, source.width() - 2 * done, source.height(),
                        source.stride()};
    halve_reference(rest, from_column(target, done), y, y + 1);
  }
}
}  // namespace sightline
#endif  // HWY_ONCE
