#include "training/samples.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/fnv.hpp"

namespace sightline::training {
namespace {

// Streams of random numbers, far apart.
constexpr std::uint64_t kCropStream = 0x43000000'00000000;
constexpr std::uint64_t kSceneStream = 0x53000000'00000000;

// An object as it is pasted.
struct Layer {
  Image<std::uint8_t> pixels;
  std::vector<double> coverage;  ///< coverage of every pixel, 0..1
};

// Coverage of a point by the object. Coordinates in object heights from its middle.
double coverage_at(Point object, double half_width, const SampleOptions& options) {
  double outside = 0;  // distance to the mask
  if (options.mask == Mask::ellipse) {
    const double radius = std::hypot(object.x / half_width, object.y / 0.5);
    if (radius > 1) outside = (1 - 1 / radius) * std::hypot(object.x, object.y);
  } else {
    outside =
        std::hypot(std::max(std::abs(object.x) - half_width, 0.0), std::max(std::abs(object.y) - 0.5, 0.0));
  }
  if (options.mask_edge <= 0) return outside > 0 ? 0 : 1;
  const double part = std::clamp(1 - outside / options.mask_edge, 0.0, 1.0);
  return part * part * (3 - 2 * part);
}

// The object in the middle of a picture, one pixel of which is `side` of the object's own.
Layer render(const SourceObject& object, const Variation& variation, Size size, double side,
             const SampleOptions& options) {
  const Box& box = object.box;
  const ObjectView view(variation);
  const Point middle{size.width / 2.0, size.height / 2.0};
  Layer layer;
  layer.pixels.resize(size.width, size.height);
  layer.coverage.reserve(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height));
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const Point at =
          view({(x + 0.5 - middle.x) * side / box.height, (y + 0.5 - middle.y) * side / box.height});
      const double value =
          object.picture->sample(box.x + box.width / 2 + at.x * box.height,
                                 box.y + box.height / 2 + at.y * box.height, side / variation.zoom);
      layer.pixels.view().at(x, y) = static_cast<std::uint8_t>(std::lround(value));
      layer.coverage.push_back(coverage_at(at, box.width / box.height / 2, options));
    }
  }
  relight(layer.pixels.view(), variation, middle, box.height / side);
  return layer;
}

// Puts a layer over a picture, its left upper pixel at (left, top); what lies outside is left out.
void paste(const Layer& layer, int left, int top, ImageView<std::uint8_t> picture) {
  const GrayView pixels = layer.pixels.view();
  for (int y = std::max(0, -top); y < std::min(pixels.height(), picture.height() - top); ++y) {
    for (int x = std::max(0, -left); x < std::min(pixels.width(), picture.width() - left); ++x) {
      std::uint8_t& under = picture.at(left + x, top + y);
      const double share =
          layer.coverage[static_cast<std::size_t>(y) * static_cast<std::size_t>(pixels.width()) +
                         static_cast<std::size_t>(x)];
      under = static_cast<std::uint8_t>(std::lround(under + share * (pixels.at(x, y) - under)));
    }
  }
}

// A part of a picture, drawn at random: of any size, at any place, maybe mirrored.
Image<std::uint8_t> random_part(GrayView picture, Size size, Random& random) {
  const Octaves octaves(picture);
  const double most = std::min(static_cast<double>(picture.width()) / size.width,
                               static_cast<double>(picture.height()) / size.height);
  const double side = most > 1 ? std::exp(random.unit() * std::log(most)) : most;
  const double left = random.unit() * (picture.width() - side * size.width);
  const double top = random.unit() * (picture.height() - side * size.height);
  const bool mirrored = random.below(2) != 0;
  Image<std::uint8_t> part(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const int column = mirrored ? size.width - 1 - x : x;
      part.view().at(x, y) = static_cast<std::uint8_t>(
          std::lround(octaves.sample(left + (column + 0.5) * side, top + (y + 0.5) * side, side)));
    }
  }
  return part;
}

Image<std::uint8_t> reduced(Image<std::uint8_t> picture, int longest_side) {
  const double side = std::max(picture.width(), picture.height()) / static_cast<double>(longest_side);
  if (side <= 1) return picture;
  const Octaves octaves(std::as_const(picture).view());
  Image<std::uint8_t> small(std::max(1, static_cast<int>(picture.width() / side)),
                            std::max(1, static_cast<int>(picture.height() / side)));
  for (int y = 0; y < small.height(); ++y) {
    for (int x = 0; x < small.width(); ++x)
      small.view().at(x, y) =
          static_cast<std::uint8_t>(std::lround(octaves.sample((x + 0.5) * side, (y + 0.5) * side, side)));
  }
  return small;
}

// Free position for an object of that size beside the others, with room for their edges.
std::optional<Box> free_place(Size scene, double width, double height, double edge,
                              const std::vector<Box>& taken, Random& random) {
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    const Box box{random.unit() * (scene.width - width), random.unit() * (scene.height - height), width,
                  height};
    const auto meets = [&](const Box& other) {
      const double room = edge * std::max(height, other.height);
      return intersection_area({box.x - room, box.y - room, width + 2 * room, height + 2 * room}, other) > 0;
    };
    if (std::ranges::none_of(taken, meets)) return box;
  }
  return std::nullopt;
}

}  // namespace

Size CropOptions::size() const {
  return {static_cast<int>(std::lround(object.width * (1 + 2 * margin))),
          static_cast<int>(std::lround(object.height * (1 + 2 * margin)))};
}

Image<std::uint8_t> make_crop(const SourceObject& object, int copy, const ImageSet* backgrounds,
                              const SampleOptions& samples, const CropOptions& crop) {
  // The box enlarged to the crop's shape touches the marked one at two sides.
  const double side = std::max(object.box.width / crop.object.width, object.box.height / crop.object.height);
  if (copy == 0) return render(object, {}, crop.size(), side, samples).pixels;
  Random random(samples.seed ^ mix_bits(object.number), kCropStream + static_cast<std::uint64_t>(copy));
  const Variation variation = draw_variation(samples.bounds, random);
  const bool is_pasted = random.unit() < crop.pasted;
  Layer layer = render(object, variation, crop.size(), side, samples);
  if (is_pasted && backgrounds) {
    const Image<std::uint8_t> behind =
        backgrounds->load(static_cast<std::size_t>(random.below(backgrounds->size())));
    Image<std::uint8_t> part = random_part(behind.view(), crop.size(), random);
    paste(layer, 0, 0, part.view());
    layer.pixels = std::move(part);
  }
  // Applied to everything, so that the seam is as sharp and noisy as the rest.
  Image<std::uint8_t> result = blurred(std::as_const(layer.pixels).view(), variation.blur);
  add_noise(result.view(), variation.noise, random);
  return result;
}

Scene make_scene(std::uint64_t number, const ObjectSource& objects, const ImageSet& backgrounds,
                 const SampleOptions& samples, const SceneOptions& options) {
  Random random(samples.seed, kSceneStream + number);
  Scene scene;
  scene.pixels =
      reduced(backgrounds.load(static_cast<std::size_t>(number % backgrounds.size())), options.longest_side);
  const Size size = std::as_const(scene.pixels).view().size();
  if (options.most_objects == 0) return scene;
  const auto count = 1 + random.below(static_cast<std::uint64_t>(options.most_objects));
  for (std::uint64_t i = 0; i < count; ++i) {
    const LentObject lent = objects.lend(static_cast<std::size_t>(random.below(objects.size())));
    const Box& marked = lent.object.box;
    Variation variation = draw_variation(samples.bounds, random);
    variation.zoom = 1;  // size and place are the scene's to say
    variation.shift_x = variation.shift_y = 0;
    const double most = std::max(options.smallest, options.largest * std::min(size.width, size.height));
    double height = std::exp(std::log(options.smallest) + random.unit() * std::log(most / options.smallest));
    height = std::min({height, static_cast<double>(size.height), size.width * marked.height / marked.width});
    const double width = height * marked.width / marked.height;
    const auto box = free_place(size, width, height, samples.mask_edge, scene.objects, random);
    if (!box) continue;
    const double room = (0.5 + samples.mask_edge) * height;  // turned, it needs more than its box
    const int around = static_cast<int>(std::ceil(std::hypot(width / 2, height / 2) + room));
    Layer layer = render(lent.object, variation, {2 * around, 2 * around}, marked.height / height, samples);
    layer.pixels = blurred(std::as_const(layer.pixels).view(), variation.blur);
    add_noise(layer.pixels.view(), variation.noise, random);
    const int left = static_cast<int>(std::lround(box->x + width / 2)) - around;
    const int top = static_cast<int>(std::lround(box->y + height / 2)) - around;
    paste(layer, left, top, scene.pixels.view());
    scene.objects.push_back({left + around - width / 2, top + around - height / 2, width, height});
  }
  return scene;
}

std::vector<bool> choose_tested(const std::vector<std::uint64_t>& contents, double share,
                                std::uint64_t seed) {
  std::set<std::uint64_t> lots;  // one for each content
  const auto lot = [&](std::uint64_t content) { return mix_bits(content ^ mix_bits(seed)); };
  for (const std::uint64_t content : contents) lots.insert(lot(content));
  const auto all = static_cast<std::int64_t>(lots.size());
  std::int64_t count = std::llround(share * static_cast<double>(all));
  if (share > 0 && share < 1)
    count = std::clamp<std::int64_t>(count, std::min<std::int64_t>(1, all - 1), all - 1);
  const auto end = std::next(lots.begin(), std::max<std::int64_t>(count, 0));
  std::vector<bool> tested;
  for (const std::uint64_t content : contents) tested.push_back(end == lots.end() || lot(content) < *end);
  return tested;
}

std::uint64_t content_hash(GrayView picture) {
  std::uint64_t hash = kFnvSeed;
  for (const int side : {picture.width(), picture.height()}) {
    for (int shift = 0; shift < 32; shift += 8) {
      const auto byte = static_cast<std::uint8_t>(side >> shift);
      hash = fnv1a(&byte, 1, hash);
    }
  }
  for (int y = 0; y < picture.height(); ++y)
    hash = fnv1a(picture.row(y), static_cast<std::size_t>(picture.width()), hash);
  return hash;
}

}  // namespace sightline::training
