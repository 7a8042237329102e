#include "training/augmentation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "support/filterbank.hpp"
#include "support/training.hpp"

namespace sightline::training {
namespace {

using test::pixels_of;

constexpr Size kSizes[] = {{1, 1}, {1, 9}, {9, 1}, {2, 3}, {24, 32}, {29, 37}, {80, 144}};

TEST(Jitter, KeepsTheSizeAndDependsOnTheSeedAlone) {
  for (const Size size : kSizes) {
    const Image<std::uint8_t> picture = test::random_picture(size, 1);
    for (unsigned seed = 0; seed < 30; ++seed) {
      Random first(seed), second(seed);
      const Image<std::uint8_t> varied = jitter(picture.view(), first);
      EXPECT_EQ(varied.view().size(), size);
      EXPECT_EQ(pixels_of(varied.view()), pixels_of(jitter(picture.view(), second).view()));
    }
  }
}

TEST(Jitter, ChangesThePictureALittle) {
  const Image<std::uint8_t> picture = test::random_picture({80, 144}, 1);
  const std::vector<int> before = pixels_of(picture.view());
  std::vector<int> mirrored;
  for (int y = 0; y < 144; ++y) {
    for (int x = 79; x >= 0; --x) mirrored.push_back(picture.view().at(x, y));
  }
  const auto distance = [](const std::vector<int>& a, const std::vector<int>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
    return sum / static_cast<double>(a.size());
  };
  const double unlike = distance(before, mirrored);
  int as_it_was = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::vector<int> after = pixels_of(jitter(picture.view(), random).view());
    EXPECT_NE(after, before);
    const double to_itself = distance(after, before);
    const double to_its_mirror = distance(after, mirrored);
    EXPECT_LT(std::min(to_itself, to_its_mirror), 0.6 * unlike) << seed;
    as_it_was += to_itself < to_its_mirror ? 1 : 0;
  }
  EXPECT_GT(as_it_was, 15);  // about half
  EXPECT_LT(as_it_was, 45);
}

// Interpolation passes neither the darkest nor the brightest pixel.
TEST(Jitter, FlatPicturesStayFlat) {
  for (const int value : {0, 77, 255}) {
    const Image<std::uint8_t> picture = test::flat_picture({31, 40}, static_cast<std::uint8_t>(value));
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      EXPECT_EQ(pixels_of(jitter(picture.view(), random).view()), pixels_of(picture.view()));
    }
  }
}

double deviation_of(const Image<std::uint8_t>& picture) {
  const std::vector<int> pixels = pixels_of(picture.view());
  double sum = 0, squares = 0;
  for (const int pixel : pixels) {
    sum += pixel;
    squares += double{1} * pixel * pixel;
  }
  const auto count = static_cast<double>(pixels.size());
  return std::sqrt(std::max(squares / count - sum / count * (sum / count), 0.0));
}

TEST(Roughen, DependsOnTheSeedAloneAndLeavesFlatPicturesFlat) {
  for (const Size size : kSizes) {
    Image<std::uint8_t> first = test::random_picture(size, 1), second = test::random_picture(size, 1);
    Random a(3), b(3);
    roughen(first.view(), {1, 0.5}, a);
    roughen(second.view(), {1, 0.5}, b);
    EXPECT_EQ(pixels_of(std::as_const(first).view()), pixels_of(std::as_const(second).view()));
    Image<std::uint8_t> flat(size.width, size.height);
    for (int y = 0; y < size.height; ++y) std::fill_n(flat.view().row(y), size.width, std::uint8_t{77});
    roughen(flat.view(), {1, 0.5}, a);
    EXPECT_EQ(pixels_of(std::as_const(flat).view()),
              std::vector<int>(static_cast<std::size_t>(size.width) * size.height, 77));
  }
}

TEST(Roughen, BlurTakesAwayAndGrainAddsNoMoreThanIsAsked) {
  const auto stripes = [] {
    Image<std::uint8_t> picture(96, 96);
    for (int y = 0; y < 96; ++y) {
      for (int x = 0; x < 96; ++x) picture.view().at(x, y) = x / 8 % 2 == 0 ? 100 : 140;
    }
    return picture;
  };
  const double before = deviation_of(stripes());
  double most = 0;
  double smoothest = 1;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Image<std::uint8_t> noisy = stripes();
    roughen(noisy.view(), {0, 0.5}, random);
    const double added = std::sqrt(std::max(std::pow(deviation_of(noisy), 2) - before * before, 0.0));
    EXPECT_LE(added, 0.5 * before * 1.1);
    most = std::max(most, added);
    Image<std::uint8_t> blurred(96, 96);
    for (int y = 0; y < 96; ++y) {
      for (int x = 0; x < 96; ++x) blurred.view().at(x, y) = static_cast<std::uint8_t>(random.below(256));
    }
    const double sharp = deviation_of(blurred);
    roughen(blurred.view(), {1, 0}, random);
    EXPECT_LE(deviation_of(blurred), sharp);
    smoothest = std::min(smoothest, deviation_of(blurred) / sharp);
  }
  EXPECT_LT(smoothest, 0.6);
  EXPECT_GT(most, 0.35 * before);
}

TEST(Occlude, HidesAPartOfTheObjectBehindTheOther) {
  const Box object{30, 20, 20, 60};
  int untouched = 0, from_the_left = 0, from_the_right = 0, from_below = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Image<std::uint8_t> picture = test::flat_picture({80, 100}, 10);
    const Image<std::uint8_t> other = test::flat_picture({80, 100}, 200);
    Random random(seed);
    occlude(picture.view(), other.view(), object, random);
    const auto hidden = [&](int x, int y) { return std::as_const(picture).view().at(x, y) == 200; };
    int count = 0;
    for (int y = 20; y < 80; ++y) {
      for (int x = 30; x < 50; ++x) count += hidden(x, y) ? 1 : 0;
    }
    EXPECT_LE(count, 0.46 * 20 * 60) << seed;
    EXPECT_FALSE(hidden(40, 25));
    if (count == 0) {
      ++untouched;
      continue;
    }
    const bool left = hidden(30, 79);
    const bool right = hidden(49, 79);
    from_below += left && right ? 1 : 0;
    from_the_left += left && !right ? 1 : 0;
    from_the_right += right && !left ? 1 : 0;
  }
  EXPECT_LT(untouched, 40);
  EXPECT_GT(from_the_left, 30);
  EXPECT_GT(from_the_right, 30);
  EXPECT_GT(from_below, 15);
  EXPECT_EQ(untouched + from_the_left + from_the_right + from_below, 200);
}

// What covers is the other's object, at the place that it has moved to.
TEST(Occlude, ShowsTheOthersObject) {
  const Box object{30, 20, 20, 60};
  int seen = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    Image<std::uint8_t> picture = test::flat_picture({80, 100}, 10);
    Image<std::uint8_t> other = test::flat_picture({80, 100}, 100);
    for (int x = 30; x < 50; ++x) other.view().at(x, 20) = 255;  // the top of its object
    Random random(seed);
    occlude(picture.view(), std::as_const(other).view(), object, random);
    for (int y = 0; y < 100; ++y) {
      const std::uint8_t* row = std::as_const(picture).view().row(y);
      const auto bright = std::count(row, row + 80, 255);
      if (bright == 0) continue;
      EXPECT_GE(bright, 9);
      EXPECT_LE(bright, 20);
      seen += 1;
      if (y >= 20 && y <= 30) continue;
      EXPECT_GE(y, 20 + 36 + 20);  // it stands below
    }
  }
  EXPECT_GT(seen, 25);
}

// Objects that do not lie inside, others of another size: nothing but the picture is written.
TEST(Occlude, StaysInsideThePicture) {
  for (const Size size : kSizes) {
    for (const Box& object : {Box{0, 0, 5, 9}, Box{-40, -60, 20, 40}, Box{3, -30, 10, 24},
                              Box{300, 300, 9, 9}, Box{-8, -8, 100, 200}, Box{0, 0, 1, 1}}) {
      for (const Size other_size : {Size{1, 1}, {7, 3}, {100, 150}}) {
        const Image<std::uint8_t> other = test::flat_picture(other_size, 9);
        for (unsigned seed = 0; seed < 20; ++seed) {
          constexpr int kMargin = 120;
          Image<std::uint8_t> whole =
              test::flat_picture({size.width + 2 * kMargin, size.height + 2 * kMargin}, 77);
          const ImageView<std::uint8_t> view = whole.view();
          Random random(seed);
          occlude({&view.at(kMargin, kMargin), size.width, size.height, view.stride()}, other.view(), object,
                  random);
          for (int y = 0; y < view.height(); ++y) {
            for (int x = 0; x < view.width(); ++x) {
              const bool inside =
                  x >= kMargin && x < kMargin + size.width && y >= kMargin && y < kMargin + size.height;
              if (!inside) {
                ASSERT_EQ(view.at(x, y), 77) << x << ' ' << y;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Occlude, DependsOnTheSeedAlone) {
  const Image<std::uint8_t> other = test::random_picture({29, 37}, 2);
  std::vector<std::vector<int>> results;
  for (unsigned seed = 0; seed < 10; ++seed) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      Image<std::uint8_t> picture = test::random_picture({29, 37}, 1);
      Random random(seed);
      occlude(picture.view(), other.view(), {6, 6, 16, 24}, random);
      results.push_back(pixels_of(std::as_const(picture).view()));
    }
    EXPECT_EQ(results[2 * seed], results[2 * seed + 1]);
  }
  EXPECT_NE(results[0], results[2]);
}

}  // namespace
}  // namespace sightline::training
