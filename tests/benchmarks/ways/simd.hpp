#pragma once
/// The filter stage in SIMD in the forms that the library has no use for, built as its own: pixels in lanes,
/// a tile of rows in registers while the dictionary streams past. Dispatched to the instruction set that
/// limit_instruction_set leaves.

#include "detectors/filterbank/dictionary.hpp"
#include "image/view.hpp"
#include "ways/plain.hpp"

namespace sightline::ways {

/// Rows of results as in PlainWork: `float` of the float dictionary, `std::int32_t` of the exact one.
template <typename Response>
struct Results {
  Response* responses = nullptr;
  std::uint8_t* indices = nullptr;
  std::ptrdiff_t pitch = 0;  ///< a multiple of 64
};

/// Form::largest and Form::every. The library has the other two.
void simd_rows(GrayView image, const filterbank::Dictionary& dictionary, Form form, int begin, int end,
               const Results<float>& results);
/// Form::value, Form::largest and Form::every. The library has Form::magnitude.
void simd_rows(GrayView image, const filterbank::Dictionary& dictionary, Form form, int begin, int end,
               const Results<std::int32_t>& results);

}  // namespace sightline::ways
