// The filter stage: image -> responses.
#include <array>
#include <cmath>
#include <set>

#include "base/hardware.hpp"
#include "detectors/filterbank/kernels.hpp"
#include "image/lbp.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline::filterbank {
namespace {

using test::dictionary_of;
using test::first_difference;
using test::GuardedImage;
using test::kDictionarySizes;
using test::padded_image;
using test::Pattern;
using test::random_dictionary;

KERNEL_TEST_SUITE(FilterKernel);

constexpr Size kSizes[] = {{1, 1},  {1, 7},  {7, 1},  {2, 2},  {3, 3},  {5, 4},  {15, 3},  {16, 5},
                           {17, 6}, {31, 7}, {32, 4}, {33, 9}, {64, 2}, {65, 5}, {100, 3}, {129, 4}};

constexpr Filter kAcross{-1, 0, 1, -2, 0, 2, -1, 0, 1};
constexpr Filter kDown{-1, -2, -1, 0, 0, 0, 1, 2, 1};

PaddedImage image_of(Size size, const std::vector<int>& pixels) {
  PaddedImage image;
  image.resize(size);
  for (int i = 0; i < size.width * size.height; ++i) {
    image.view().at(i % size.width, i / size.width) = static_cast<std::uint8_t>(pixels[i]);
  }
  image.fill_border(0, size.height);
  return image;
}

std::uint32_t response_at(const PaddedImage& image, const Dictionary& dictionary, int x, int y,
                          ContrastMode contrast = ContrastMode::insensitive) {
  GuardedImage<std::uint32_t> response_map(image.view().size());
  filter_rows(image.view(), dictionary, contrast, 0, image.view().height(), response_map.view());
  return response_map.view().at(x, y);
}

Filter opposite_of(const Filter& filter) {
  Filter opposite;
  for (int i = 0; i < kTaps; ++i) opposite[i] = static_cast<std::int8_t>(-filter[i]);
  return opposite;
}

// Where all responses of the image first differ from the reference's, or memory that is not theirs was
// written;
// "" where neither is so.
std::string difference_from_reference(const PaddedImage& image, const Dictionary& dictionary,
                                      ContrastMode contrast) {
  const Size size = image.view().size();
  GuardedImage<std::uint32_t> response_map(size);
  GuardedImage<std::uint32_t> expected(size);
  filter_rows(image.view(), dictionary, contrast, 0, size.height, response_map.view());
  reference::filter_rows(image.view(), dictionary, contrast, 0, size.height, expected.view());
  if (!response_map.rows_untouched_outside(0, size.height)) return "written outside";
  return first_difference(response_map.view(), expected.view(), 0, size.height);
}

TEST_P(FilterKernel, HandWorked) {
  const Dictionary dictionary = dictionary_of({kAcross, kDown});
  const PaddedImage image = image_of({3, 3}, {10, 20, 30,  //
                                              40, 50, 60,  //
                                              70, 80, 90});
  // Centre: across (30 + 2*60 + 90) - (10 + 2*40 + 70) = 80, down (70 + 2*80 + 90) - (10 + 2*20 + 30) = 240.
  EXPECT_EQ(response_at(image, dictionary, 1, 1), pack_response(240, 1));
  // Corner, with its pixels repeated outside: down (40 + 2*40 + 50) - (10 + 2*10 + 20) = 120.
  EXPECT_EQ(response_at(image, dictionary, 0, 0), pack_response(120, 1));
  // Turned by a quarter, the other filter wins, and from white to black a response is as large.
  const PaddedImage turned = image_of({3, 3}, {90, 60, 30,  //
                                               80, 50, 20,  //
                                               70, 40, 10});
  EXPECT_EQ(response_at(turned, dictionary, 1, 1), pack_response(240, 0));
}

TEST_P(FilterKernel, LowestIndexWinsATie) {
  // Both filters respond with 80 to a diagonal ramp.
  const PaddedImage diagonal = image_of({3, 3}, {10, 20, 30,  //
                                                 20, 30, 40,  //
                                                 30, 40, 50});
  EXPECT_EQ(response_at(diagonal, dictionary_of({kAcross, kDown}), 1, 1), pack_response(80, 0));
  EXPECT_EQ(response_at(diagonal, dictionary_of({kDown, kAcross}), 1, 1), pack_response(80, 0));

  const Filter opposite = opposite_of(kDown);
  const PaddedImage noise = padded_image({37, 6}, Pattern::noise, 1);
  for (const auto& filters : {std::vector<Filter>(256, kDown), std::vector<Filter>{opposite, kDown},
                              std::vector<Filter>{kDown, opposite, kDown}}) {
    GuardedImage<std::uint32_t> response_map({37, 6});
    filter_rows(noise.view(), dictionary_of(filters), ContrastMode::insensitive, 0, 6, response_map.view());
    for (int y = 0; y < 6; ++y) {
      for (int x = 0; x < 37; ++x)
        ASSERT_EQ(response_bin(response_map.view().at(x, y)), 0U) << filters.size();
    }
  }
}

TEST_P(FilterKernel, SignsApartHandWorked) {
  const Dictionary dictionary = dictionary_of({kAcross, kDown});
  const PaddedImage rising = image_of({3, 3}, {10, 20, 30,  //
                                               40, 50, 60,  //
                                               70, 80, 90});
  const PaddedImage falling = image_of({3, 3}, {90, 80, 70,  //
                                                60, 50, 40,  //
                                                30, 20, 10});
  const PaddedImage turned = image_of({3, 3}, {90, 60, 30,  //
                                               80, 50, 20,  //
                                               70, 40, 10});
  EXPECT_EQ(response_at(rising, dictionary, 1, 1, ContrastMode::sensitive), pack_response(240, 1));
  EXPECT_EQ(response_at(falling, dictionary, 1, 1, ContrastMode::sensitive), pack_response(240, 1 + 2));
  EXPECT_EQ(response_at(turned, dictionary, 1, 1, ContrastMode::sensitive), pack_response(240, 0 + 2));
  EXPECT_EQ(response_at(falling, dictionary, 1, 1), pack_response(240, 1));
  // The corner, see above.
  EXPECT_EQ(response_at(rising, dictionary, 0, 0, ContrastMode::sensitive), pack_response(120, 1));
  EXPECT_EQ(response_at(falling, dictionary, 0, 0, ContrastMode::sensitive), pack_response(120, 1 + 2));
}

// Whatever the signs of those that tie.
TEST_P(FilterKernel, SignsApartLowestFilterWinsATie) {
  const PaddedImage diagonal = image_of({3, 3}, {10, 20, 30,  //
                                                 20, 30, 40,  //
                                                 30, 40, 50});
  const Filter left = opposite_of(kAcross);
  const auto packed_response = [&](const std::vector<Filter>& filters) {
    return response_at(diagonal, dictionary_of(filters), 1, 1, ContrastMode::sensitive);
  };
  EXPECT_EQ(packed_response({kAcross, kDown}), pack_response(80, 0));
  EXPECT_EQ(packed_response({kAcross, left}), pack_response(80, 0));
  EXPECT_EQ(packed_response({left, kAcross}), pack_response(80, 0 + 2));
  EXPECT_EQ(packed_response({left, kDown, kAcross}), pack_response(80, 0 + 3));
  EXPECT_EQ(packed_response(std::vector<Filter>(128, left)), pack_response(80, 128));
  std::vector<Filter> last(128, Filter{});
  last.back() = left;
  EXPECT_EQ(packed_response(last), pack_response(80, 255));
  last.back() = kAcross;
  EXPECT_EQ(packed_response(last), pack_response(80, 127));

  // At every pixel of noise, the first of a filter and its opposite says which bin it is.
  const PaddedImage noise = padded_image({137, 6}, Pattern::noise, 1);
  for (const auto& filters :
       {std::vector<Filter>{kDown, opposite_of(kDown)}, std::vector<Filter>{opposite_of(kDown), kDown}}) {
    GuardedImage<std::uint32_t> response_map({137, 6});
    filter_rows(noise.view(), dictionary_of(filters), ContrastMode::sensitive, 0, 6, response_map.view());
    int below_zero = 0;
    for (int y = 0; y < 6; ++y) {
      for (int x = 0; x < 137; ++x) {
        int response = 0;
        for (int i = 0; i < kTaps; ++i)
          response += filters[0][i] * noise.view().at(x + i % 3 - 1, y + i / 3 - 1);
        const std::uint32_t expected =
            pack_response(static_cast<std::uint32_t>(std::abs(response)), response < 0 ? 2 : 0);
        ASSERT_EQ(response_map.view().at(x, y), expected) << x << ' ' << y;
        below_zero += response < 0 ? 1 : 0;
      }
    }
    EXPECT_GT(below_zero, 200);
    EXPECT_LT(below_zero, 622);
  }
}

TEST_P(FilterKernel, LargestResponse) {
  // 257 * 255 = 2^16 - 1: the most that kMaxPositiveSum allows.
  const Filter largest{127, 127, 3, -127, -127, -3, 0, 0, 0};
  const PaddedImage image = image_of({3, 3}, {255, 255, 255, 0, 0, 0, 77, 1, 200});
  EXPECT_EQ(response_at(image, dictionary_of({kDown, largest}), 1, 1), pack_response(65535, 1));
  const Filter opposite = opposite_of(largest);
  EXPECT_EQ(response_at(image, dictionary_of({kDown, opposite}), 1, 1), pack_response(65535, 1));
  EXPECT_EQ(response_at(image, dictionary_of({kDown, largest}), 1, 1, ContrastMode::sensitive),
            pack_response(65535, 1));
  EXPECT_EQ(response_at(image, dictionary_of({kDown, opposite}), 1, 1, ContrastMode::sensitive),
            pack_response(65535, 3));
  std::vector<Filter> many(128, Filter{});
  many.back() = opposite;  // all 24 bits
  EXPECT_EQ(response_at(image, dictionary_of(many), 1, 1, ContrastMode::sensitive),
            pack_response(65535, 255));
}

// Forms with narrow integers have to notice where these do not suffice: responses around 2^15 of patches
// whose pixels differ from the middle one by less than 128.
TEST_P(FilterKernel, ResponsesAround15Bits) {
  const Filter filter{127, 127, 3, -127, -127, -3, 0, 0, 0};
  const Filter opposite = opposite_of(filter);
  for (int response = 32760; response <= 32775; ++response) {
    int across = 257;  // 127 * across + 3 * rest is the response
    while ((response - 127 * across) % 3 != 0) ++across;
    const int rest = (response - 127 * across) / 3;
    const PaddedImage image =
        image_of({3, 3}, {across + 188 - 224, 224, 100 + rest, 60, 128, 100, 128, 128, 128});
    EXPECT_EQ(response_at(image, dictionary_of({kDown, filter}), 1, 1), pack_response(response, 1));
    EXPECT_EQ(response_at(image, dictionary_of({kDown, opposite}), 1, 1), pack_response(response, 1));
    EXPECT_EQ(response_at(image, dictionary_of({kDown, filter}), 1, 1, ContrastMode::sensitive),
              pack_response(response, 1));
    EXPECT_EQ(response_at(image, dictionary_of({kDown, opposite}), 1, 1, ContrastMode::sensitive),
              pack_response(response, 3));
  }
}

// And differences around 2^7, in few and in many pixels.
TEST_P(FilterKernel, DifferencesAround7Bits) {
  const Dictionary dictionary = random_dictionary(100, 9);
  const Size size{150, 9};
  test::Numbers numbers(5);
  for (int contrast = 120; contrast <= 135; ++contrast) {
    for (const int one_in : {2, 10, 100, 1000}) {
      std::vector<int> pixels;
      for (int i = 0; i < size.width * size.height; ++i)
        pixels.push_back(numbers(0, one_in - 1) == 0 ? contrast % 2 * 255
                         : contrast % 2              ? 255 - contrast
                                                     : contrast);
      const PaddedImage image = image_of(size, pixels);
      for (const ContrastMode mode : {ContrastMode::insensitive, ContrastMode::sensitive})
        ASSERT_EQ(difference_from_reference(image, dictionary, mode), "") << contrast << " " << one_in;
    }
  }
}

TEST_P(FilterKernel, FlatPatchesHaveNoResponse) {
  for (const Pattern pattern : {Pattern::black, Pattern::white}) {
    const PaddedImage image = padded_image({21, 5}, pattern, 0);
    for (const ContrastMode contrast : {ContrastMode::insensitive, ContrastMode::sensitive}) {
      GuardedImage<std::uint32_t> response_map({21, 5});
      filter_rows(image.view(), random_dictionary(100, 4), contrast, 0, 5, response_map.view());
      for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 21; ++x) ASSERT_EQ(response_map.view().at(x, y), pack_response(0, 0));
      }
    }
  }
}

void check_all_sizes(int filters, ContrastMode contrast) {
  const Dictionary dictionary = random_dictionary(filters, static_cast<unsigned>(filters));
  for (const Size size : kSizes) {
    for (const Pattern pattern : test::kPatterns) {
      const PaddedImage image = padded_image(size, pattern, static_cast<unsigned>(filters + size.width));
      ASSERT_EQ(difference_from_reference(image, dictionary, contrast), "")
          << size.width << "x" << size.height << ", " << filters << " filters, pattern "
          << static_cast<int>(pattern);
    }
  }
}

TEST_P(FilterKernel, EqualsReference) {
  for (const int filters : kDictionarySizes) check_all_sizes(filters, ContrastMode::insensitive);
}

TEST_P(FilterKernel, SignsApartEqualsReference) {
  for (const int filters : {1, 3, 9, 25, 70, 100, 127, 128})
    check_all_sizes(filters, ContrastMode::sensitive);
}

TEST_P(FilterKernel, WritesItsRowsOnly) {
  const Size size{35, 13};
  const PaddedImage image = padded_image(size, Pattern::noise, 5);
  const Dictionary dictionary = random_dictionary(9, 6);
  for (const ContrastMode contrast : {ContrastMode::insensitive, ContrastMode::sensitive}) {
    GuardedImage<std::uint32_t> expected(size);
    reference::filter_rows(image.view(), dictionary, contrast, 0, size.height, expected.view());
    for (int begin = 0; begin <= size.height; ++begin) {
      for (int end = begin; end <= size.height; ++end) {
        GuardedImage<std::uint32_t> response_map(size);
        filter_rows(image.view(), dictionary, contrast, begin, end, response_map.view());
        ASSERT_EQ(first_difference(response_map.view(), expected.view(), begin, end), "")
            << begin << " to " << end;
        ASSERT_TRUE(response_map.rows_untouched_outside(begin, end)) << begin << " to " << end;
      }
    }
  }
}

// --- patterns
// ---------------------------------------------------------------------------------------------------

TEST(UniformPatterns, Table) {
  // The 58 codes whose circle changes at most twice: none, all, and runs of 1 to 7 ones from each of 8
  // places.
  std::set<unsigned> uniform{0x00, 0xFF};
  for (int ones = 1; ones < 8; ++ones) {
    for (int first = 0; first < 8; ++first) {
      unsigned code = 0;
      for (int i = 0; i < ones; ++i) code |= 1U << ((first + i) % 8);
      uniform.insert(code);
    }
  }
  ASSERT_EQ(uniform.size(), 58U);
  int bin = 0;
  for (unsigned code = 0; code < 256; ++code)
    EXPECT_EQ(kUniformLbp[code], uniform.contains(code) ? bin++ : 58) << code;
  EXPECT_EQ(kUniformLbpBins, 59);
}

std::uint32_t pattern_at(const PaddedImage& image, int x, int y) {
  const Size size = image.view().size();
  Image<std::uint32_t> response_map(size.width, size.height);
  for (int row = 0; row < size.height; ++row) std::fill_n(response_map.view().row(row), size.width, 0U);
  add_patterns(image.view(), 0, size.height, response_map.view());
  return response_pattern(response_map.view().at(x, y));
}

TEST_P(FilterKernel, PatternsHandWorked) {
  // Flat: all neighbours are as bright.
  EXPECT_EQ(pattern_at(image_of({3, 3}, std::vector<int>(9, 77)), 1, 1), kUniformLbp[0xFF]);
  EXPECT_EQ(kUniformLbp[0xFF], 57);
  // A peak: none is.
  EXPECT_EQ(pattern_at(image_of({3, 3}, {1, 2, 3, 4, 5, 4, 3, 2, 1}), 1, 1), kUniformLbp[0]);
  // One neighbour after the other, clockwise from the upper left, and all but it; as large as the middle
  // counts.
  constexpr int kPlaces[8] = {0, 1, 2, 5, 8, 7, 6, 3};
  for (int i = 0; i < 8; ++i) {
    for (const int as_bright : {128, 129, 255}) {
      for (const int darker : {0, 127}) {
        std::vector<int> one(9, darker), others(9, as_bright);
        one[4] = others[4] = 128;
        one[kPlaces[i]] = as_bright;
        others[kPlaces[i]] = darker;
        EXPECT_EQ(pattern_at(image_of({3, 3}, one), 1, 1), kUniformLbp[1U << i]) << i;
        EXPECT_EQ(pattern_at(image_of({3, 3}, others), 1, 1), kUniformLbp[0xFFU ^ 1U << i]) << i;
      }
    }
  }
  EXPECT_EQ(kUniformLbp[1], 1);
  EXPECT_EQ(kUniformLbp[2], 2);
  // Two corners: not uniform.
  EXPECT_EQ(pattern_at(image_of({3, 3}, {9, 1, 9, 1, 5, 1, 1, 1, 1}), 1, 1), 58U);
  // In the left column, what lies outside is as bright as the pixels there: from the upper left clockwise,
  // 20 20 10 10 10 20 20 20 around 20.
  EXPECT_EQ(pattern_at(image_of({2, 3}, {20, 10, 20, 10, 20, 10}), 0, 1), kUniformLbp[0b11100011]);
}

// Where the patterns of rows [begin, end) first differ from the reference's, or anything but the highest
// bytes of those rows' responses was changed; "" where neither is so.
std::string difference_of_patterns(const PaddedImage& image, int begin, int end) {
  const Size size = image.view().size();
  GuardedImage<std::uint32_t> response_map(size), expected(size);
  test::Numbers numbers(static_cast<unsigned>(size.width * 100 + size.height));
  for (int y = begin; y < end; ++y) {
    for (int x = 0; x < size.width; ++x)
      response_map.view().at(x, y) = expected.view().at(x, y) =
          static_cast<std::uint32_t>(numbers(0, 0xFFFFFF));
  }
  add_patterns(image.view(), begin, end, response_map.view());
  for (int y = begin; y < end; ++y) {
    for (int x = 0; x < size.width; ++x) {
      if ((response_map.view().at(x, y) & 0xFFFFFF) != expected.view().at(x, y))
        return "a packed_response's lower bytes changed";
    }
  }
  reference::add_patterns(image.view(), begin, end, expected.view());
  if (!response_map.rows_untouched_outside(begin, end)) return "written outside";
  return first_difference(response_map.view(), expected.view(), begin, end);
}

TEST_P(FilterKernel, PatternsEqualReference) {
  for (const Size size : {Size{1, 1}, {1, 7},  {7, 1},   {2, 2},   {3, 3},   {15, 3},  {16, 5}, {17, 6},
                          {31, 7},    {32, 4}, {33, 9},  {48, 2},  {63, 3},  {64, 2},  {65, 5}, {79, 2},
                          {80, 3},    {81, 2}, {100, 3}, {127, 2}, {128, 2}, {129, 4}, {200, 3}}) {
    for (const Pattern pattern : test::kPatterns) {
      for (unsigned seed = 0; seed < 3; ++seed) {
        ASSERT_EQ(difference_of_patterns(padded_image(size, pattern, seed), 0, size.height), "")
            << size.width << "x" << size.height << ", pattern " << static_cast<int>(pattern);
      }
    }
  }
}

// Noise of two levels: every code, many times.
TEST_P(FilterKernel, PatternsOfEveryCode) {
  const Size size{131, 40};
  test::Numbers numbers(3);
  std::vector<int> pixels;
  for (int i = 0; i < size.width * size.height; ++i) pixels.push_back(127 + numbers(0, 1));
  const PaddedImage image = image_of(size, pixels);
  ASSERT_EQ(difference_of_patterns(image, 0, size.height), "");
  Image<std::uint32_t> response_map(size.width, size.height);
  for (int y = 0; y < size.height; ++y) std::fill_n(response_map.view().row(y), size.width, 0U);
  add_patterns(image.view(), 0, size.height, response_map.view());
  std::array<int, 256> counts{};
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) ++counts[response_pattern(response_map.view().at(x, y))];
  }
  for (int bin = 0; bin < 256; ++bin) EXPECT_EQ(counts[bin] > 0, bin < 59) << bin;
}

TEST_P(FilterKernel, PatternsOfItsRowsOnly) {
  const PaddedImage image = padded_image({71, 13}, Pattern::noise, 5);
  for (int begin = 0; begin <= 13; ++begin) {
    for (int end = begin; end <= 13; ++end)
      ASSERT_EQ(difference_of_patterns(image, begin, end), "") << begin << " to " << end;
  }
}

// --- the float form
// ---------------------------------------------------------------------------------------------

// A unit filter's coefficients sum to at most 3 in magnitude, so no partial sum passes 3 * 255 = 765, and
// each rounding errs by at most 765 * 2^-24. The reference rounds 9 times (fused), a kernel 17 times at most
// (not fused).
constexpr double kFloatBound = (9 + 17) * 765.0 * 0x1p-24;  // 1.19e-3

double float_response(GrayView image, const FloatFilter& filter, ResponseMode mode, int x, int y) {
  double sum = 0;
  for (int i = 0; i < kTaps; ++i)
    sum += static_cast<double>(filter[i]) * image.at(x + i % 3 - 1, y + i / 3 - 1);
  return mode == ResponseMode::magnitude ? std::fabs(sum) : std::max(sum, 0.0);
}

TEST_P(FilterKernel, FloatHandWorked) {
  // {-1 .. 1} / sqrt(12): 240 / sqrt(12) at the centre of the image above.
  const Dictionary dictionary = dictionary_of({kAcross, kDown});
  const PaddedImage image = image_of({3, 3}, {10, 20, 30, 40, 50, 60, 70, 80, 90});
  GuardedImage<float> responses({3, 3});
  GuardedImage<std::uint8_t> indices({3, 3});
  filter_rows_float(image.view(), dictionary, ResponseMode::magnitude, 0, 3, responses.view(),
                    indices.view());
  EXPECT_NEAR(responses.view().at(1, 1), 240 / std::sqrt(12.0), kFloatBound);
  EXPECT_EQ(indices.view().at(1, 1), 1);
  EXPECT_NEAR(responses.view().at(0, 0), 120 / std::sqrt(12.0), kFloatBound);
}

TEST_P(FilterKernel, LargestValueHandWorked) {
  // At the centre, across responds with 80 / sqrt(12), down with -240 / sqrt(12).
  const Dictionary dictionary = dictionary_of({kDown, kAcross});
  const PaddedImage image = image_of({3, 3}, {70, 80, 90, 40, 50, 60, 10, 20, 30});
  GuardedImage<float> responses({3, 3});
  GuardedImage<std::uint8_t> indices({3, 3});
  const auto filter = [&](const PaddedImage& of, ResponseMode mode) {
    filter_rows_float(of.view(), dictionary, mode, 0, 3, responses.view(), indices.view());
  };
  filter(image, ResponseMode::value);
  EXPECT_NEAR(responses.view().at(1, 1), 80 / std::sqrt(12.0), kFloatBound);
  EXPECT_EQ(indices.view().at(1, 1), 1);
  filter(image, ResponseMode::magnitude);
  EXPECT_NEAR(responses.view().at(1, 1), 240 / std::sqrt(12.0), kFloatBound);
  EXPECT_EQ(indices.view().at(1, 1), 0);
  // Where no response is above 0, there is none.
  filter(image_of({3, 3}, {90, 80, 70, 60, 50, 40, 30, 20, 10}), ResponseMode::value);
  EXPECT_EQ(responses.view().at(1, 1), 0.0F);
  EXPECT_EQ(indices.view().at(1, 1), 0);
}

class FloatKernel : public FilterKernel {
 protected:
  void compare(ResponseMode mode);
};
INSTANTIATE_TEST_SUITE_P(AllTargets, FloatKernel, ::testing::ValuesIn(test::instruction_sets()),
                         test::target_name);

TEST_P(FloatKernel, MagnitudesNearReference) {
  compare(ResponseMode::magnitude);
}

TEST_P(FloatKernel, ValuesNearReference) {
  compare(ResponseMode::value);
}

void FloatKernel::compare(ResponseMode mode) {
  for (const int filters : kDictionarySizes) {
    const Dictionary dictionary = random_dictionary(filters, static_cast<unsigned>(filters));
    for (const Size size : kSizes) {
      for (const Pattern pattern :
           {Pattern::noise, Pattern::white, Pattern::checkerboard, Pattern::flat_areas}) {
        const PaddedImage image = padded_image(size, pattern, static_cast<unsigned>(filters + size.width));
        GuardedImage<float> responses(size), expected(size);
        GuardedImage<std::uint8_t> indices(size), expected_indices(size);
        filter_rows_float(image.view(), dictionary, mode, 0, size.height, responses.view(), indices.view());
        reference::filter_rows_float(image.view(), dictionary, mode, 0, size.height, expected.view(),
                                     expected_indices.view());
        ASSERT_TRUE(responses.rows_untouched_outside(0, size.height));
        ASSERT_TRUE(indices.rows_untouched_outside(0, size.height));
        for (int y = 0; y < size.height; ++y) {
          for (int x = 0; x < size.width; ++x) {
            ASSERT_NEAR(responses.view().at(x, y), expected.view().at(x, y), kFloatBound);
            const int index = indices.view().at(x, y);
            const int other = expected_indices.view().at(x, y);
            if (index == other) continue;
            ASSERT_LT(index, filters);
            // Rounding may let another filter win where the two true responses tie within both errors.
            ASSERT_NEAR(float_response(image.view(), dictionary.reference()[index], mode, x, y),
                        float_response(image.view(), dictionary.reference()[other], mode, x, y),
                        2 * kFloatBound);
          }
        }
      }
    }
  }
}

// Whoever asks for the instruction set does not change it: those with and without fused multiply and add give
// different last bits.
TEST_P(FilterKernel, AskingForTheInstructionSetLeavesItAsItIs) {
  const PaddedImage image = padded_image({100, 30}, Pattern::noise, 3);
  const Dictionary dictionary = random_dictionary(25, 4);
  const auto responses = [&] {
    GuardedImage<float> result(image.view().size());
    GuardedImage<std::uint8_t> indices(image.view().size());
    filter_rows_float(image.view(), dictionary, ResponseMode::magnitude, 0, 30, result.view(),
                      indices.view());
    std::vector<float> values;
    for (int y = 0; y < 30; ++y)
      values.insert(values.end(), result.view().row(y), result.view().row(y) + image.view().width());
    return values;
  };
  const std::vector<float> before = responses();
  const std::string name = instruction_set();
  EXPECT_EQ(responses(), before);
  EXPECT_EQ(instruction_set(), name);
}

TEST_P(FilterKernel, FloatTieGoesToTheLowestIndex) {
  const PaddedImage noise = padded_image({37, 6}, Pattern::noise, 1);
  GuardedImage<float> responses({37, 6});
  GuardedImage<std::uint8_t> indices({37, 6});
  for (const ResponseMode mode : {ResponseMode::magnitude, ResponseMode::value}) {
    filter_rows_float(noise.view(), dictionary_of(std::vector<Filter>(256, kDown)), mode, 0, 6,
                      responses.view(), indices.view());
    for (int y = 0; y < 6; ++y) {
      for (int x = 0; x < 37; ++x) ASSERT_EQ(indices.view().at(x, y), 0);
    }
  }
}

TEST_P(FilterKernel, FloatWritesItsRowsOnly) {
  const Size size{35, 11};
  const PaddedImage image = padded_image(size, Pattern::noise, 5);
  const Dictionary dictionary = random_dictionary(9, 6);
  for (int begin = 0; begin <= size.height; ++begin) {
    for (int end = begin; end <= size.height; ++end) {
      GuardedImage<float> responses(size);
      GuardedImage<std::uint8_t> indices(size);
      filter_rows_float(image.view(), dictionary, ResponseMode::magnitude, begin, end, responses.view(),
                        indices.view());
      ASSERT_TRUE(responses.rows_untouched_outside(begin, end)) << begin << " to " << end;
      ASSERT_TRUE(indices.rows_untouched_outside(begin, end)) << begin << " to " << end;
    }
  }
}

}  // namespace
}  // namespace sightline::filterbank
