#pragma once
/// The filter stage in plain code, one source built several times: with the compiler's vectorisation off, and
/// on for several instruction sets. Nothing of the standard library is in it: an inline function of it,
/// compiled for a wide instruction set, could end up in the whole program.

#include <cstddef>
#include <cstdint>

namespace sightline::ways {

/// What becomes of a pixel's responses.
enum class Form {
  magnitude,  ///< the largest magnitude and its index
  value,      ///< the largest response above 0 and its index, as in the published algorithm
  largest,    ///< the largest magnitude alone
  every,      ///< nothing is chosen: each is stored
  sum,        ///< all responses are added up: what the comparisons of the others cost (OpenCL alone)
};

/// Pixels and filters, and where results go. Rows of results are `result_pitch` elements apart; of every
/// response, so are rows of one filter, and an image row's filters follow each other: [y][filter][x].
struct PlainWork {
  const std::uint8_t* pixels = nullptr;  ///< the interior's first, with readable ones all round
  std::ptrdiff_t pixel_pitch = 0;
  int width = 0;
  const float* filters = nullptr;     ///< [filter][9]
  const float* transposed = nullptr;  ///< [group of kGroup filters][9][kGroup], 0 where there is none
  int count = 0;                      ///< filters
  float* responses = nullptr;
  std::uint8_t* indices = nullptr;
  std::ptrdiff_t result_pitch = 0;
};
inline constexpr int kGroup = 16;

/// Order of the loops.
enum class Loops {
  published,   ///< a pixel's filters one after the other
  transposed,  ///< kGroup filters of a pixel side by side, their coefficients laid out for it
  pixels,      ///< neighbouring pixels side by side
};

/// Rows [begin, end).
using PlainRows = void(const PlainWork& work, Loops loops, Form form, int begin, int end);

namespace unvectorised {
PlainRows rows;
}
namespace unvectorised_fma {
PlainRows rows;
}
namespace vectorised_sse4 {
PlainRows rows;
}
namespace vectorised_avx2 {
PlainRows rows;
}
namespace vectorised_avx512 {
PlainRows rows;
}

}  // namespace sightline::ways
