// The float filter of the descriptors that are not standard: any patch, and the sign of the response. Pixels
// lie in lanes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/filterbank/patch_filter_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <vector>

#include "detectors/filterbank/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, kLanePad>;
using I32 = hn::RebindToSigned<F32>;
using VF32 = hn::VFromD<F32>;
using VI32 = hn::VFromD<I32>;

// Rows of pixels as floats, including the pixels that a patch and a vector reach past the image.
template <int kPatch, int kRows>
class PixelRows {
 public:
  static constexpr int kBorder = kPatch / 2;
  static constexpr int kCount = kRows + kPatch - 1;

  explicit PixelRows(int width)
      : pitch_(round_up(width, kLanePad) + kLanePad), values_(static_cast<std::size_t>(pitch_) * kCount) {}

  // Loads the pixels around rows [y, y + kRows) of the image.
  void load(GrayView image, int y) {
    for (int r = 0; r < kCount; ++r) {
      const std::uint8_t* from = image.row(std::clamp(y + r - kBorder, 0, image.height() - 1));
      float* to = values_.data() + static_cast<std::ptrdiff_t>(r) * pitch_;
      std::fill_n(to, kBorder, from[0]);
      std::copy_n(from, image.width(), to + kBorder);
      std::fill(to + kBorder + image.width(), to + pitch_, from[image.width() - 1]);
    }
  }
  // The pixels that the patches' column i needs for pixels from x on.
  const float* at(int row, int i, int x) const {
    return values_.data() + static_cast<std::ptrdiff_t>(row) * pitch_ + x + i;
  }

 private:
  int pitch_;
  std::vector<float> values_;
};

template <int kPatch, int kRows, typename FilterType>
HWY_INLINE void filter_tile_signed(const PixelRows<kPatch, kRows>& rows, int width,
                                   std::span<const FilterType> filters, int y, ImageView<float> responses,
                                   ImageView<std::uint8_t> indices) {
  const F32 d;
  const I32 di;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < width; x += lanes) {
    VF32 best[kRows];
    VF32 most[kRows];  // magnitude of the best
    VI32 best_index[kRows];
    for (int r = 0; r < kRows; ++r) {
      best[r] = hn::Zero(d);
      most[r] = hn::Set(d, -1.0F);
      best_index[r] = hn::Zero(di);
    }
    for (std::size_t k = 0; k < filters.size(); ++k) {
      VF32 sum[kRows];
      for (int r = 0; r < kRows; ++r) sum[r] = hn::Zero(d);
        // A vector of pixels is loaded once for all the rows whose patches it is part of. Unrolled, so that
        // the sums stay in registers.
#pragma GCC unroll 8
      for (int i = 0; i < kPatch; ++i) {
        VF32 column[kPatch];
#pragma GCC unroll 8
        for (int j = 0; j < kPatch; ++j) column[j] = hn::Set(d, filters[k][j * kPatch + i]);
#pragma GCC unroll 8
        for (int row = 0; row < kRows + kPatch - 1; ++row) {
          const VF32 pixels = hn::LoadU(d, rows.at(row, i, x));
#pragma GCC unroll 8
          for (int j = 0; j < kPatch; ++j) {
            const int r = row - j;
            if (r >= 0 && r < kRows) sum[r] = hn::MulAdd(pixels, column[j], sum[r]);
          }
        }
      }
      const VI32 index = hn::Set(di, static_cast<std::int32_t>(k));
      for (int r = 0; r < kRows; ++r) {
        const VF32 magnitude = hn::Abs(sum[r]);
        const auto better = hn::Gt(magnitude, most[r]);
        most[r] = hn::Max(most[r], magnitude);
        best[r] = hn::IfThenElse(better, sum[r], best[r]);
        best_index[r] = hn::IfThenElse(hn::RebindMask(di, better), index, best_index[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      best[r] = hn::IfThenElseZero(hn::Ge(most[r], hn::Set(d, kLeastResponse)), best[r]);
      hn::StoreU(best[r], d, responses.row(y + r) + x);
      const hn::Rebind<std::uint8_t, I32> d8;
      hn::StoreU(hn::DemoteTo(d8, best_index[r]), d8, indices.row(y + r) + x);
    }
  }
}

template <int kPatch, typename FilterType>
void filter_patches(GrayView image, std::span<const FilterType> filters, int y_begin, int y_end,
                    ImageView<float> responses, ImageView<std::uint8_t> indices) {
  constexpr int kRows = 4;
  PixelRows<kPatch, kRows> tile(image.width());
  PixelRows<kPatch, 1> single(image.width());
  int y = y_begin;
  for (; y + kRows <= y_end; y += kRows) {
    tile.load(image, y);
    filter_tile_signed<kPatch, kRows>(tile, image.width(), filters, y, responses, indices);
  }
  for (; y < y_end; ++y) {
    single.load(image, y);
    filter_tile_signed<kPatch, 1>(single, image.width(), filters, y, responses, indices);
  }
}

void filter_rows_signed(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                        ImageView<float> responses, ImageView<std::uint8_t> indices) {
  if (dictionary.patch() == 5) {
    filter_patches<5>(image, dictionary.large(), y_begin, y_end, responses, indices);
  } else {
    filter_patches<3>(image, dictionary.reference(), y_begin, y_end, responses, indices);
  }
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(filter_rows_signed);

void filter_rows_signed(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                        ImageView<float> responses, ImageView<std::uint8_t> indices) {
  HWY_DYNAMIC_DISPATCH(filter_rows_signed)(image, dictionary, y_begin, y_end, responses, indices);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
