#pragma once
/// What the kernel tests share: every test runs once for each instruction set that this processor has,
/// compares a SIMD kernel with its scalar reference bit for bit, and watches the memory around what the
/// kernel may write.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "detectors/filterbank/dictionary.hpp"
#include "detectors/filterbank/layout.hpp"
#include "image/pyramid.hpp"
#include "image/view.hpp"

namespace sightline::test {

/// The instruction sets that this processor has and the kernels are compiled for, by limit_instruction_set's
/// names.
std::vector<std::string> instruction_sets();

/// Runs every test of the suite under the instruction set of its parameter.
class KernelTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  void TearDown() override;
};

/// A suite of its own with that of KernelTest.
#define KERNEL_TEST_SUITE(Suite)                                                                          \
  class Suite : public ::sightline::test::KernelTest {};                                                  \
  INSTANTIATE_TEST_SUITE_P(AllTargets, Suite, ::testing::ValuesIn(::sightline::test::instruction_sets()), \
                           ::sightline::test::target_name)

std::string target_name(const ::testing::TestParamInfo<std::string>& info);

/// Integers of [low, high].
class Numbers {
 public:
  explicit Numbers(unsigned seed) : engine_(seed) {}
  int operator()(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  double real() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

/// How many filters dictionaries have in tests.
inline constexpr int kDictionarySizes[] = {1, 3, 9, 25, 70, 100, 255, 256};
/// `count` random filters, zero mean and unit length, and their 8-bit form.
filterbank::Dictionary random_dictionary(int count, unsigned seed);
/// Exact filters as they are; the float form is derived from them.
filterbank::Dictionary dictionary_of(const std::vector<filterbank::Filter>& filters);

enum class Pattern { noise, black, white, checkerboard, stripes, flat_areas, ramp };
inline constexpr Pattern kPatterns[] = {Pattern::noise,        Pattern::black,   Pattern::white,
                                        Pattern::checkerboard, Pattern::stripes, Pattern::flat_areas,
                                        Pattern::ramp};
std::uint8_t pixel_of(Pattern pattern, int x, int y, Numbers& numbers);
PaddedImage padded_image(Size size, Pattern pattern, unsigned seed);

/// What memory is filled with that nobody is to write.
inline constexpr std::uint8_t kCanary = 0xA5;

/// Memory whose every byte, and 64 elements before and after, starts as a canary.
template <typename T>
class Guarded {
 public:
  explicit Guarded(std::size_t size) : size_(size), buffer_(size + 2 * kGuard) {
    std::memset(buffer_.data(), kCanary, buffer_.size() * sizeof(T));
  }
  T* data() { return buffer_.data() + kGuard; }
  const T* data() const { return buffer_.data() + kGuard; }
  std::size_t size() const { return size_; }

  /// Whether elements [begin, end) are as they were; the guards have negative indices and those from size()
  /// on.
  bool untouched(std::ptrdiff_t begin, std::ptrdiff_t end) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data() + begin);
    for (std::size_t i = 0; i < (end - begin) * sizeof(T); ++i) {
      if (bytes[i] != kCanary) return false;
    }
    return true;
  }
  /// Whether nothing but elements [begin, end) was written, guards included.
  bool untouched_outside(std::ptrdiff_t begin, std::ptrdiff_t end) const {
    return untouched(-kGuard, begin) && untouched(end, static_cast<std::ptrdiff_t>(size_) + kGuard);
  }

 private:
  static constexpr std::ptrdiff_t kGuard = 64;
  std::size_t size_;
  AlignedBuffer<T> buffer_;
};

/// An image in guarded memory, with rows as far apart as those of Image.
template <typename T>
class GuardedImage {
 public:
  explicit GuardedImage(Size size)
      : size_(size),
        stride_(filterbank::round_up(size.width, static_cast<int>(64 / sizeof(T)))),
        memory_(static_cast<std::size_t>(stride_) * size.height) {}
  ImageView<T> view() { return {memory_.data(), size_.width, size_.height, stride_}; }
  /// The part of a row that is not the image's own may be written as well.
  bool rows_untouched_outside(int y_begin, int y_end) const {
    return memory_.untouched_outside(static_cast<std::ptrdiff_t>(y_begin) * stride_,
                                     static_cast<std::ptrdiff_t>(y_end) * stride_);
  }
  /// Nothing but the image's own columns may be written.
  bool columns_untouched_outside(int y_begin, int y_end) const {
    for (int y = y_begin; y < y_end; ++y) {
      if (!memory_.untouched(static_cast<std::ptrdiff_t>(y) * stride_ + size_.width,
                             static_cast<std::ptrdiff_t>(y + 1) * stride_)) {
        return false;
      }
    }
    return rows_untouched_outside(y_begin, y_end);
  }

 private:
  Size size_;
  int stride_;
  Guarded<T> memory_;
};

/// Where two images first differ in rows [y_begin, y_end), for a message; "" where they are equal.
template <typename T>
std::string first_difference(ImageView<T> a, ImageView<T> b, int y_begin, int y_end) {
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x < a.width(); ++x) {
      if (a.at(x, y) == b.at(x, y)) continue;
      return std::to_string(a.at(x, y)) + " and " + std::to_string(b.at(x, y)) + " at (" + std::to_string(x) +
             ", " + std::to_string(y) + ")";
    }
  }
  return "";
}

/// The same for arrays.
template <typename T>
std::string first_difference(const T* a, const T* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (a[i] != b[i])
      return std::to_string(a[i]) + " and " + std::to_string(b[i]) + " at " + std::to_string(i);
  }
  return "";
}

/// A picture with as many pixels as it has, and no others: a sanitizer sees every read outside.
struct Picture {
  Picture(Size s, Pattern pattern) : size(s), pixels(static_cast<std::size_t>(s.width * s.height)) {
    Numbers numbers(static_cast<unsigned>(s.width));
    for (int y = 0; y < s.height; ++y) {
      for (int x = 0; x < s.width; ++x)
        pixels[static_cast<std::size_t>(y * s.width + x)] = pixel_of(pattern, x, y, numbers);
    }
  }
  GrayView view() const { return {pixels.data(), size.width, size.height, size.width}; }
  Size size;
  std::vector<std::uint8_t> pixels;
};

}  // namespace sightline::test
