#include "training/window_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "training/for_each_image.hpp"
#include "training/octaves.hpp"

namespace sightline::training {
namespace {

constexpr std::size_t kBlock = 20;  // pictures that are held out together

// Position of a copy in a picture.
struct Placement {
  double x = 0, y = 0;  // middle, in pixels of the picture
  double side = 1;      // pixels of the picture that are one of the window
  double turn = 0;      // radians
  bool mirrored = false;
};

Image<std::uint8_t> cut(const Octaves& picture, const Placement& at, Size window) {
  Image<std::uint8_t> pixels(window.width, window.height);
  const double c = std::cos(at.turn) * at.side, s = std::sin(at.turn) * at.side;
  for (int y = 0; y < window.height; ++y) {
    for (int x = 0; x < window.width; ++x) {
      const double dx = (x + 0.5 - window.width / 2.0) * (at.mirrored ? -1 : 1);
      const double dy = y + 0.5 - window.height / 2.0;
      const double value = picture.sample(at.x + c * dx - s * dy, at.y + s * dx + c * dy, at.side);
      pixels.view().at(x, y) = static_cast<std::uint8_t>(std::lround(value));
    }
  }
  return pixels;
}

Placement place(Size picture, const CutOptions& o, int copy, Random& random) {
  const double around = 1 + 2 * o.margin;
  const Size window = o.window;
  Placement at;
  at.side = std::min(picture.width / around / window.width, picture.height / around / window.height);
  at.x = picture.width / 2.0;
  at.y = picture.height / 2.0;
  if (copy == 0) return at;
  const auto within = [&](double limit) { return (2 * random.unit() - 1) * limit; };
  at.x += within(o.shift) * at.side * window.width;
  at.y += within(o.shift) * at.side * window.height;
  at.side *= std::exp(within(o.zoom));
  at.turn = within(o.turn) * std::numbers::pi / 180;
  at.mirrored = random.below(2) != 0;
  return at;
}

// Selects held-out pictures by their objects.
std::vector<bool> choose_held_out(const ImageSet& pictures, const CutOptions& options) {
  if (pictures.size() == 0) return {};
  const std::vector<std::size_t> sources = number_sources(pictures);
  const std::size_t count = sources.back() + 1;
  std::vector<bool> held_out(count);
  for (std::size_t i = 0; i < count; ++i) held_out[i] = is_held_out(i, count, options);
  // A few objects may all fall to one side; then one of them changes it.
  if (count > 1 && options.held_out > 0) {
    if (std::ranges::count(held_out, true) == 0) held_out.back() = true;
    if (std::ranges::count(held_out, false) == 0) held_out.front() = false;
  }
  std::vector<bool> of_pictures;
  for (const std::size_t source : sources) of_pictures.push_back(held_out[source]);
  return of_pictures;
}

}  // namespace

double window_number(std::uint64_t seed, int round, std::size_t picture, int level, int x, int y) {
  std::uint64_t hash = mix_bits(seed ^ mix_bits(static_cast<std::uint64_t>(round)));
  hash = mix_bits(hash ^ picture);
  hash = mix_bits(hash ^ (static_cast<std::uint64_t>(level) << 48 | static_cast<std::uint64_t>(x) << 24 |
                          static_cast<std::uint64_t>(y)));
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

void WindowSamples::add(GrayView window) {
  for (int y = 0; y < window_.height; ++y)
    pixels_.insert(pixels_.end(), window.row(y), window.row(y) + window_.width);
}

std::string signature(const CutOptions& o) {
  return fmt::format(
      "window {}x{}, margin {}, {} copies, shift {}, zoom {}, turn {}, blur {}, grain {}, held out {}, seed "
      "{}",
      o.window.width, o.window.height, o.margin, o.copies, o.shift, o.zoom, o.turn, o.roughness.blur,
      o.roughness.grain, o.held_out, o.seed);
}

std::string signature(const WindowTrainingOptions& o) {
  return fmt::format("{}, {} negatives, step {}, mirrored {}", signature(static_cast<const CutOptions&>(o)),
                     o.negatives, o.scale_step, o.mirrored_negatives);
}

bool is_held_out(std::size_t picture, std::size_t pictures, const CutOptions& options) {
  const std::size_t block = std::clamp<std::size_t>(pictures / kBlock, 1, kBlock);
  const std::uint64_t hash = mix_bits(options.seed ^ mix_bits(picture / block + 1));
  return static_cast<double>(hash >> 11) * 0x1p-53 < options.held_out;
}

std::vector<std::size_t> number_sources(const ImageSet& pictures) {
  std::vector<std::size_t> numbers;
  std::string last;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const std::string name = pictures.name(i);
    const std::size_t mark = name.rfind(kCopyMark);
    const std::string source = mark == std::string::npos ? "" : name.substr(0, mark);
    const bool is_copy = i > 0 && !source.empty() && source == last;
    numbers.push_back(i == 0 ? 0 : numbers.back() + (is_copy ? 0 : 1));
    last = source;
  }
  return numbers;
}

PositiveSamples cut_positives(const ImageSet& pictures, const CutOptions& options, ProgressClock& clock) {
  std::vector<WindowSamples> cuts(pictures.size(), WindowSamples(options.window));
  for_each_image(
      pictures.size(), clock, [] { return std::make_unique<int>(); },
      [&](std::size_t i, int& /*workspace*/) {
        const Image<std::uint8_t> picture = pictures.load(i);
        if (std::min(picture.width(), picture.height()) < 8)
          throw Error(ExitCode::input, "'" + pictures.name(i) + "' is too small to show the object");
        const Octaves octaves(picture.view());
        Random random(options.seed, i);
        for (int copy = 0; copy <= options.copies; ++copy) {
          Image<std::uint8_t> pixels =
              cut(octaves, place(octaves.size(), options, copy, random), options.window);
          const Roughness& roughness = options.roughness;
          if (copy > 0 && (roughness.blur > 0 || roughness.grain > 0))
            roughen(pixels.view(), roughness, random);
          cuts[i].add(std::as_const(pixels).view());
        }
      });
  PositiveSamples samples(options.window);
  const std::vector<bool> is_out = choose_held_out(pictures, options);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    WindowSamples& to = is_out[i] ? samples.held_out : samples.seen;
    for (std::size_t copy = 0; copy < cuts[i].size(); ++copy) to.add(cuts[i].view(copy));
  }
  return samples;
}

void require_both_sides(const PositiveSamples& samples) {
  if (samples.seen.size() == 0 || samples.held_out.size() == 0)
    throw Error(ExitCode::input, "too few positive pictures to hold some out",
                "mark at least some dozens of objects; copies of one are held out together");
}

}  // namespace sightline::training
