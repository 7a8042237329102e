// The filter stage: image -> votes.
#include <cmath>

#include "filterbank/kernels.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline::filterbank {
namespace {

using test::dictionary_of;
using test::first_difference;
using test::GuardedImage;
using test::padded_image;
using test::Pattern;
using test::random_dictionary;

class FilterKernel : public test::KernelTest {};
INSTANTIATE_TEST_SUITE_P(AllTargets, FilterKernel, ::testing::ValuesIn(test::instruction_sets()),
                         test::target_name);

constexpr Size kSizes[] = {{1, 1},  {1, 7},  {7, 1},  {2, 2},  {3, 3},  {5, 4},  {15, 3},  {16, 5},
                           {17, 6}, {31, 7}, {32, 4}, {33, 9}, {64, 2}, {65, 5}, {100, 3}, {129, 4}};
constexpr int kDictionarySizes[] = {1, 3, 9, 25, 70, 100, 255, 256};

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

std::uint32_t vote_at(const PaddedImage& image, const Dictionary& dictionary, int x, int y) {
  GuardedImage<std::uint32_t> votes(image.view().size());
  filter_rows(image.view(), dictionary, 0, image.view().height(), votes.view());
  return votes.view().at(x, y);
}

TEST_P(FilterKernel, HandWorked) {
  const Dictionary dictionary = dictionary_of({kAcross, kDown});
  const PaddedImage image = image_of({3, 3}, {10, 20, 30,  //
                                              40, 50, 60,  //
                                              70, 80, 90});
  // Centre: across (30 + 2*60 + 90) - (10 + 2*40 + 70) = 80, down (70 + 2*80 + 90) - (10 + 2*20 + 30) = 240.
  EXPECT_EQ(vote_at(image, dictionary, 1, 1), make_vote(240, 1));
  // Corner, with its pixels repeated outside: down (40 + 2*40 + 50) - (10 + 2*10 + 20) = 120.
  EXPECT_EQ(vote_at(image, dictionary, 0, 0), make_vote(120, 1));
  // Turned by a quarter, the other filter wins, and from white to black a response is as large.
  const PaddedImage turned = image_of({3, 3}, {90, 60, 30,  //
                                               80, 50, 20,  //
                                               70, 40, 10});
  EXPECT_EQ(vote_at(turned, dictionary, 1, 1), make_vote(240, 0));
}

TEST_P(FilterKernel, LowestIndexWinsATie) {
  // Both filters respond with 80 to a diagonal ramp.
  const PaddedImage diagonal = image_of({3, 3}, {10, 20, 30,  //
                                                 20, 30, 40,  //
                                                 30, 40, 50});
  EXPECT_EQ(vote_at(diagonal, dictionary_of({kAcross, kDown}), 1, 1), make_vote(80, 0));
  EXPECT_EQ(vote_at(diagonal, dictionary_of({kDown, kAcross}), 1, 1), make_vote(80, 0));

  Filter opposite;
  for (int i = 0; i < kTaps; ++i) opposite[i] = static_cast<std::int8_t>(-kDown[i]);
  const PaddedImage noise = padded_image({37, 6}, Pattern::noise, 1);
  for (const auto& filters : {std::vector<Filter>(256, kDown), std::vector<Filter>{opposite, kDown},
                              std::vector<Filter>{kDown, opposite, kDown}}) {
    GuardedImage<std::uint32_t> votes({37, 6});
    filter_rows(noise.view(), dictionary_of(filters), 0, 6, votes.view());
    for (int y = 0; y < 6; ++y) {
      for (int x = 0; x < 37; ++x) ASSERT_EQ(vote_index(votes.view().at(x, y)), 0U) << filters.size();
    }
  }
}

TEST_P(FilterKernel, LargestResponse) {
  // 257 * 255 = 2^16 - 1: the most that kMaxPositiveSum allows.
  const Filter largest{127, 127, 3, -127, -127, -3, 0, 0, 0};
  const PaddedImage image = image_of({3, 3}, {255, 255, 255, 0, 0, 0, 77, 1, 200});
  EXPECT_EQ(vote_at(image, dictionary_of({kDown, largest}), 1, 1), make_vote(65535, 1));
  Filter opposite;
  for (int i = 0; i < kTaps; ++i) opposite[i] = static_cast<std::int8_t>(-largest[i]);
  EXPECT_EQ(vote_at(image, dictionary_of({kDown, opposite}), 1, 1), make_vote(65535, 1));
}

// Forms with narrow integers have to notice where these do not suffice: responses around 2^15 of patches
// whose pixels differ from the middle one by less than 128.
TEST_P(FilterKernel, ResponsesAround15Bits) {
  const Filter filter{127, 127, 3, -127, -127, -3, 0, 0, 0};
  Filter opposite;
  for (int i = 0; i < kTaps; ++i) opposite[i] = static_cast<std::int8_t>(-filter[i]);
  for (int response = 32760; response <= 32775; ++response) {
    int across = 257;  // 127 * across + 3 * rest is the response
    while ((response - 127 * across) % 3 != 0) ++across;
    const int rest = (response - 127 * across) / 3;
    const PaddedImage image =
        image_of({3, 3}, {across + 188 - 224, 224, 100 + rest, 60, 128, 100, 128, 128, 128});
    EXPECT_EQ(vote_at(image, dictionary_of({kDown, filter}), 1, 1), make_vote(response, 1));
    EXPECT_EQ(vote_at(image, dictionary_of({kDown, opposite}), 1, 1), make_vote(response, 1));
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
      GuardedImage<std::uint32_t> votes(size);
      GuardedImage<std::uint32_t> expected(size);
      filter_rows(image.view(), dictionary, 0, size.height, votes.view());
      reference::filter_rows(image.view(), dictionary, 0, size.height, expected.view());
      ASSERT_EQ(first_difference(votes.view(), expected.view(), 0, size.height), "")
          << contrast << " " << one_in;
      ASSERT_TRUE(votes.rows_untouched_outside(0, size.height));
    }
  }
}

TEST_P(FilterKernel, FlatPatchesHaveNoResponse) {
  for (const Pattern pattern : {Pattern::black, Pattern::white}) {
    const PaddedImage image = padded_image({21, 5}, pattern, 0);
    GuardedImage<std::uint32_t> votes({21, 5});
    filter_rows(image.view(), random_dictionary(100, 4), 0, 5, votes.view());
    for (int y = 0; y < 5; ++y) {
      for (int x = 0; x < 21; ++x) ASSERT_EQ(votes.view().at(x, y), make_vote(0, 0));
    }
  }
}

TEST_P(FilterKernel, EqualsReference) {
  for (const int filters : kDictionarySizes) {
    const Dictionary dictionary = random_dictionary(filters, static_cast<unsigned>(filters));
    for (const Size size : kSizes) {
      for (const Pattern pattern : test::kPatterns) {
        const PaddedImage image = padded_image(size, pattern, static_cast<unsigned>(filters + size.width));
        GuardedImage<std::uint32_t> votes(size);
        GuardedImage<std::uint32_t> expected(size);
        filter_rows(image.view(), dictionary, 0, size.height, votes.view());
        reference::filter_rows(image.view(), dictionary, 0, size.height, expected.view());
        ASSERT_EQ(first_difference(votes.view(), expected.view(), 0, size.height), "")
            << size.width << "x" << size.height << ", " << filters << " filters, pattern "
            << static_cast<int>(pattern);
        ASSERT_TRUE(votes.rows_untouched_outside(0, size.height)) << size.width << "x" << size.height;
      }
    }
  }
}

TEST_P(FilterKernel, WritesItsRowsOnly) {
  const Size size{35, 13};
  const PaddedImage image = padded_image(size, Pattern::noise, 5);
  const Dictionary dictionary = random_dictionary(9, 6);
  GuardedImage<std::uint32_t> expected(size);
  reference::filter_rows(image.view(), dictionary, 0, size.height, expected.view());
  for (int begin = 0; begin <= size.height; ++begin) {
    for (int end = begin; end <= size.height; ++end) {
      GuardedImage<std::uint32_t> votes(size);
      filter_rows(image.view(), dictionary, begin, end, votes.view());
      ASSERT_EQ(first_difference(votes.view(), expected.view(), begin, end), "") << begin << " to " << end;
      ASSERT_TRUE(votes.rows_untouched_outside(begin, end)) << begin << " to " << end;
    }
  }
}

// --- the float form
// ---------------------------------------------------------------------------------------------

// A unit filter's coefficients sum to at most 3 in magnitude, so no partial sum passes 3 * 255 = 765, and
// each rounding errs by at most 765 * 2^-24. The reference rounds 9 times (fused), a kernel 17 times at most
// (not fused).
constexpr double kFloatBound = (9 + 17) * 765.0 * 0x1p-24;  // 1.19e-3

double float_response(GrayView image, const FloatFilter& filter, int x, int y) {
  double sum = 0;
  for (int i = 0; i < kTaps; ++i)
    sum += static_cast<double>(filter[i]) * image.at(x + i % 3 - 1, y + i / 3 - 1);
  return std::fabs(sum);
}

TEST_P(FilterKernel, FloatHandWorked) {
  // {-1 .. 1} / sqrt(12): 240 / sqrt(12) at the centre of the image above.
  const Dictionary dictionary = dictionary_of({kAcross, kDown});
  const PaddedImage image = image_of({3, 3}, {10, 20, 30, 40, 50, 60, 70, 80, 90});
  GuardedImage<float> responses({3, 3});
  GuardedImage<std::uint8_t> indices({3, 3});
  filter_rows_float(image.view(), dictionary, 0, 3, responses.view(), indices.view());
  EXPECT_NEAR(responses.view().at(1, 1), 240 / std::sqrt(12.0), kFloatBound);
  EXPECT_EQ(indices.view().at(1, 1), 1);
  EXPECT_NEAR(responses.view().at(0, 0), 120 / std::sqrt(12.0), kFloatBound);
}

TEST_P(FilterKernel, FloatNearReference) {
  for (const int filters : kDictionarySizes) {
    const Dictionary dictionary = random_dictionary(filters, static_cast<unsigned>(filters));
    for (const Size size : kSizes) {
      for (const Pattern pattern :
           {Pattern::noise, Pattern::white, Pattern::checkerboard, Pattern::flat_areas}) {
        const PaddedImage image = padded_image(size, pattern, static_cast<unsigned>(filters + size.width));
        GuardedImage<float> responses(size), expected(size);
        GuardedImage<std::uint8_t> indices(size), expected_indices(size);
        filter_rows_float(image.view(), dictionary, 0, size.height, responses.view(), indices.view());
        reference::filter_rows_float(image.view(), dictionary, 0, size.height, expected.view(),
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
            ASSERT_NEAR(float_response(image.view(), dictionary.reference()[index], x, y),
                        float_response(image.view(), dictionary.reference()[other], x, y), 2 * kFloatBound);
          }
        }
      }
    }
  }
}

TEST_P(FilterKernel, FloatTieGoesToTheLowestIndex) {
  const PaddedImage noise = padded_image({37, 6}, Pattern::noise, 1);
  GuardedImage<float> responses({37, 6});
  GuardedImage<std::uint8_t> indices({37, 6});
  filter_rows_float(noise.view(), dictionary_of(std::vector<Filter>(256, kDown)), 0, 6, responses.view(),
                    indices.view());
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 37; ++x) ASSERT_EQ(indices.view().at(x, y), 0);
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
      filter_rows_float(image.view(), dictionary, begin, end, responses.view(), indices.view());
      ASSERT_TRUE(responses.rows_untouched_outside(begin, end)) << begin << " to " << end;
      ASSERT_TRUE(indices.rows_untouched_outside(begin, end)) << begin << " to " << end;
    }
  }
}

}  // namespace
}  // namespace sightline::filterbank
