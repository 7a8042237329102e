#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ways/simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "ways/simd.hpp"

HWY_BEFORE_NAMESPACE();
#include "base/vnni_target.hpp"
namespace sightline::ways::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using I32 = hn::ScalableTag<std::int32_t>;
using F32 = hn::ScalableTag<float>;
using VI32 = hn::VFromD<I32>;
using VF32 = hn::VFromD<F32>;

HWY_INLINE VI32 load_pixels(const std::uint8_t* pixels) {
  return hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<std::uint8_t, I32>(), pixels));
}

// An arithmetic: what a tile's rows are loaded as, and how the steps of a response are taken.
struct FloatTaps {
  using Response = float;
  using D = F32;
  using V = VF32;
  static constexpr int kSteps = filterbank::kTaps;
  static constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 4 : 1;
  struct Row {
    V taps[3];
  };
  static HWY_INLINE Row load(const std::uint8_t* p) {
    return {{hn::ConvertTo(D(), load_pixels(p - 1)), hn::ConvertTo(D(), load_pixels(p)),
             hn::ConvertTo(D(), load_pixels(p + 1))}};
  }
  static HWY_INLINE V operand(const Row* rows, int step) { return rows[step / 3].taps[step % 3]; }
  static HWY_INLINE V coefficient(const filterbank::Dictionary& dictionary, int k, int step) {
    return hn::Set(D(), dictionary.reference()[k][step]);
  }
  static HWY_INLINE V add(V a, V b, V sum) { return hn::MulAdd(a, b, sum); }
};

#if SIGHTLINE_VNNI
struct ExactTaps {
  using Response = std::int32_t;
  using D = I32;
  using V = VI32;
  static constexpr int kSteps = 3;
  static constexpr int kRows = 4;
  struct Row {
    V quad;  // bytes: left, middle, right, 0
  };
  static HWY_INLINE Row load(const std::uint8_t* p) {
    return {hn::Or(load_pixels(p - 1),
                   hn::Or(hn::ShiftLeft<8>(load_pixels(p)), hn::ShiftLeft<16>(load_pixels(p + 1))))};
  }
  static HWY_INLINE V operand(const Row* rows, int step) { return rows[step].quad; }
  static HWY_INLINE V coefficient(const filterbank::Dictionary& dictionary, int k, int step) {
    return hn::Set(D(), dictionary.quads()[k * kSteps + step]);
  }
  static HWY_INLINE V add(V a, V b, V sum) {
    sum.raw = _mm512_dpbusd_epi32(sum.raw, a.raw, b.raw);
    return sum;
  }
};
#elif HWY_ARCH_X86
struct ExactTaps {
  using Response = std::int32_t;
  using D = I32;
  using V = VI32;
  using I16 = hn::Repartition<std::int16_t, I32>;
  static constexpr int kSteps = 5;
  static constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
  struct Row {
    V pair;   // int16: left, middle
    V right;  // int16: right, 0
  };
  static HWY_INLINE Row load(const std::uint8_t* p) {
    return {hn::Or(load_pixels(p - 1), hn::ShiftLeft<16>(load_pixels(p))), load_pixels(p + 1)};
  }
  static HWY_INLINE V operand(const Row* rows, int step) {
    if (step < 3) return rows[step].pair;
    return step == 3 ? hn::Or(rows[0].right, hn::ShiftLeft<16>(rows[1].right)) : rows[2].right;
  }
  static HWY_INLINE V coefficient(const filterbank::Dictionary& dictionary, int k, int step) {
    return hn::Set(D(), dictionary.pairs()[k * kSteps + step]);
  }
  // On x86 this is one `pmaddwd`, which keeps every pair in its own lane.
  static HWY_INLINE V add(V a, V b, V sum) {
    V unused = hn::Zero(D());
    return hn::ReorderWidenMulAccumulate(D(), hn::BitCast(I16(), a), hn::BitCast(I16(), b), sum, unused);
  }
};
#else
struct ExactTaps {
  using Response = std::int32_t;
  using D = I32;
  using V = VI32;
  static constexpr int kSteps = filterbank::kTaps;
  static constexpr int kRows = 2;
  struct Row {
    V taps[3];
  };
  static HWY_INLINE Row load(const std::uint8_t* p) {
    return {{load_pixels(p - 1), load_pixels(p), load_pixels(p + 1)}};
  }
  static HWY_INLINE V operand(const Row* rows, int step) { return rows[step / 3].taps[step % 3]; }
  static HWY_INLINE V coefficient(const filterbank::Dictionary& dictionary, int k, int step) {
    return hn::Set(D(), dictionary.filters()[k][step]);
  }
  static HWY_INLINE V add(V a, V b, V sum) { return hn::Add(sum, hn::Mul(a, b)); }
};
#endif

template <typename Taps, Form kForm, int kRows>
HWY_INLINE void tile(GrayView image, const filterbank::Dictionary& dictionary, int y,
                     const Results<typename Taps::Response>& results) {
  const typename Taps::D d;
  const I32 di;
  using V = typename Taps::V;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int count = dictionary.size();
  for (int x = 0; x < image.width(); x += lanes) {
    typename Taps::Row rows[kRows + 2];
    for (int r = 0; r < kRows + 2; ++r) rows[r] = Taps::load(image.row(y + r - 1) + x);
    V best[kRows];
    VI32 index[kRows];
    for (int r = 0; r < kRows; ++r) {
      best[r] = hn::Zero(d);
      index[r] = hn::Zero(di);
    }
    for (int k = 0; k < count; ++k) {
      V sum[kRows];
      for (int r = 0; r < kRows; ++r) sum[r] = hn::Zero(d);
      for (int step = 0; step < Taps::kSteps; ++step) {
        const V c = Taps::coefficient(dictionary, k, step);
        for (int r = 0; r < kRows; ++r) sum[r] = Taps::add(Taps::operand(rows + r, step), c, sum[r]);
      }
      for (int r = 0; r < kRows; ++r) {
        if constexpr (kForm == Form::every) {
          hn::StoreU(
              sum[r], d,
              results.responses + (static_cast<std::ptrdiff_t>(y + r) * count + k) * results.pitch + x);
        } else if constexpr (kForm == Form::largest) {
          best[r] = hn::Max(best[r], hn::Abs(sum[r]));
        } else {
          const auto better = hn::Gt(sum[r], best[r]);
          best[r] = hn::Max(best[r], sum[r]);
          index[r] = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, k), index[r]);
        }
      }
    }
    if constexpr (kForm == Form::every) continue;
    for (int r = 0; r < kRows; ++r) {
      const std::ptrdiff_t at = (y + r) * results.pitch + x;
      hn::StoreU(best[r], d, results.responses + at);
      const hn::Rebind<std::uint8_t, I32> d8;
      if constexpr (kForm == Form::value) hn::StoreU(hn::DemoteTo(d8, index[r]), d8, results.indices + at);
    }
  }
}

template <typename Taps, Form kForm, typename Response>
void rows_of(GrayView image, const filterbank::Dictionary& dictionary, int begin, int end,
             const Results<Response>& results) {
  int y = begin;
  for (; y + Taps::kRows <= end; y += Taps::kRows)
    tile<Taps, kForm, Taps::kRows>(image, dictionary, y, results);
  for (; y < end; ++y) tile<Taps, kForm, 1>(image, dictionary, y, results);
}

void float_rows(GrayView image, const filterbank::Dictionary& dictionary, Form form, int begin, int end,
                const Results<float>& results) {
  if (form == Form::every) {
    rows_of<FloatTaps, Form::every>(image, dictionary, begin, end, results);
  } else {
    rows_of<FloatTaps, Form::largest>(image, dictionary, begin, end, results);
  }
}

void exact_rows(GrayView image, const filterbank::Dictionary& dictionary, Form form, int begin, int end,
                const Results<std::int32_t>& results) {
  if (form == Form::every) {
    rows_of<ExactTaps, Form::every>(image, dictionary, begin, end, results);
  } else if (form == Form::largest) {
    rows_of<ExactTaps, Form::largest>(image, dictionary, begin, end, results);
  } else {
    rows_of<ExactTaps, Form::value>(image, dictionary, begin, end, results);
  }
}

}  // namespace sightline::ways::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::ways {
HWY_EXPORT(float_rows);
HWY_EXPORT(exact_rows);

void simd_rows(GrayView image, const filterbank::Dictionary& dictionary, Form form, int begin, int end,
               const Results<float>& results) {
  HWY_DYNAMIC_DISPATCH(float_rows)(image, dictionary, form, begin, end, results);
}

void simd_rows(GrayView image, const filterbank::Dictionary& dictionary, Form form, int begin, int end,
               const Results<std::int32_t>& results) {
  HWY_DYNAMIC_DISPATCH(exact_rows)(image, dictionary, form, begin, end, results);
}
}  // namespace sightline::ways
#endif  // HWY_ONCE
