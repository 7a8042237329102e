#include "training/sample_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "media/gray_png.hpp"
#include "training/cached_images.hpp"
#include "training/for_each_image.hpp"
#include "training/window_samples.hpp"

namespace sightline::training {
namespace fs = std::filesystem;

namespace {

constexpr double kSmallestObject = 8;                     // pixels: less shows nothing
constexpr std::size_t kKeptBytes = std::size_t{1} << 29;  // cache of decoded backgrounds
constexpr int kCopyBlock = 16;     // copies that are made between looks at whether to stop
constexpr double kSceneCost = 20;  // cost of a scene in crops

std::uint64_t hash_of(const std::string& text) {
  const int length = static_cast<int>(text.size());
  return content_hash({reinterpret_cast<const std::uint8_t*>(text.data()), length, 1, length});
}

auto no_workspace() {
  return [] { return std::make_unique<int>(); };
}

}  // namespace

// A decoded picture.
struct SampleFolder::Lent {
  explicit Lent(Image<std::uint8_t> picture)
      : pixels(std::move(picture)), octaves(std::as_const(pixels).view()) {}
  Image<std::uint8_t> pixels;
  Octaves octaves;
};

SampleFolder::SampleFolder(const FileImageSet& pictures, std::vector<MarkedObject> objects,
                           const FileImageSet* backgrounds, const SampleFolderOptions& options,
                           ProgressClock& clock)
    : pictures_(pictures), objects_(std::move(objects)), backgrounds_(backgrounds), options_(options) {
  clock.enter("looking through the pictures", static_cast<double>(objects_.size()));
  std::vector<std::uint64_t> contents(objects_.size());
  for_each_image(objects_.size(), clock, no_workspace(), [&](std::size_t i, int& /*workspace*/) {
    const Box& box = objects_[i].box;
    const std::string name = pictures_.name(objects_[i].picture);
    const Image<std::uint8_t> picture = pictures_.load(objects_[i].picture);
    check_inside(box, picture.view().size(), name);
    if (std::min(box.width, box.height) < kSmallestObject) {
      throw Error(ExitCode::input,
                  fmt::format("the box at ({:g}, {:g}) in '{}' is too small ({:g}x{:g} pixels)", box.x, box.y,
                              name, box.width, box.height),
                  fmt::format("mark objects of {:g} pixels or more", kSmallestObject));
    }
    contents[i] = content_hash(picture.view());
  });
  split(contents);
  if (options_.scenes + options_.empty_scenes == 0) return;
  if (testing_.objects.empty() || !testing_backgrounds_) {
    throw Error(ExitCode::input,
                fmt::format("cannot make scenes: the test part has {} objects and {} backgrounds",
                            testing_.objects.size(), testing_.backgrounds.size()),
                "give more pictures and backgrounds, or a larger --test-share"_message);
  }
}

void SampleFolder::split(const std::vector<std::uint64_t>& contents) {
  is_tested_ = choose_tested(contents, options_.test_share, options_.samples.seed);
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    (is_tested_[i] ? testing_ : training_).objects.push_back(i);
    place = i > 0 && objects_[i].picture == objects_[i - 1].picture ? place + 1 : 0;
    numbers_.push_back(contents[i] + place);
  }
  if (!backgrounds_) return;
  std::vector<std::uint64_t> names;
  for (std::size_t i = 0; i < backgrounds_->size(); ++i) names.push_back(hash_of(backgrounds_->name(i)));
  const std::vector<bool> tested = choose_tested(names, options_.test_share, options_.samples.seed);
  for (std::size_t i = 0; i < names.size(); ++i) (tested[i] ? testing_ : training_).backgrounds.push_back(i);
  kept_ = std::make_unique<CachedImages>(*backgrounds_, kKeptBytes);
  const auto choose = [&](const std::vector<std::size_t>& chosen) {
    return chosen.empty() ? nullptr : std::make_unique<const ChosenImages>(*kept_, chosen);
  };
  training_backgrounds_ = choose(training_.backgrounds);
  // Scenes take them in turn, so that a few scenes show what there is and not the first folder alone.
  std::vector<std::size_t> in_turn = testing_.backgrounds;
  std::ranges::sort(in_turn, {}, [&](std::size_t i) { return std::pair(names[i], i); });
  testing_backgrounds_ = choose(in_turn);
}

std::string SampleFolder::crop_name(std::size_t object) const {
  const fs::path name = pictures_.name(objects_[object].picture);
  return fmt::format("{:04}-{}{}", object + 1, name.stem().string(), kCopyMark);
}

std::shared_ptr<const SampleFolder::Lent> SampleFolder::open(std::size_t picture) const {
  return std::make_shared<const Lent>(pictures_.load(picture));
}

SourceObject SampleFolder::source(std::size_t object, const Lent& lent) const {
  return {&lent.octaves, objects_[object].box, numbers_[object]};
}

LentObject SampleFolder::lend(std::size_t index) const {
  const std::size_t object = testing_.objects[index];
  std::shared_ptr<const Lent> lent = open(objects_[object].picture);
  const SourceObject lent_object = source(object, *lent);
  return {lent_object, std::move(lent)};
}

Image<std::uint8_t> SampleFolder::crop(std::size_t object, int copy, const Lent& lent) const {
  const ImageSet* const behind = (is_tested_[object] ? testing_backgrounds_ : training_backgrounds_).get();
  return make_crop(source(object, lent), copy, behind, options_.samples, options_.crop);
}

Image<std::uint8_t> SampleFolder::crop(std::size_t object, int copy) const {
  return crop(object, copy, *open(objects_[object].picture));
}

Scene SampleFolder::scene(int number) const {
  return make_scene(static_cast<std::uint64_t>(number), *this, *testing_backgrounds_, options_.samples,
                    options_.scene);
}

Scene SampleFolder::empty_scene(int number) const {
  SceneOptions empty = options_.scene;
  empty.most_objects = 0;
  return make_scene(static_cast<std::uint64_t>(number), *this, *testing_backgrounds_, options_.samples,
                    empty);
}

void SampleFolder::write_crops(const fs::path& folder, ProgressClock& clock) const {
  clock.enter("making crops", static_cast<double>(objects_.size()) * (1 + options_.copies));
  if (!training_.objects.empty()) fs::create_directory(folder / "train");
  if (!testing_.objects.empty()) fs::create_directory(folder / "test");
  const int blocks = options_.copies / kCopyBlock + 1;  // blocks of an object
  for_each_image(objects_.size() * static_cast<std::size_t>(blocks), clock, no_workspace(),
                 [&](std::size_t block, int& /*workspace*/) {
                   const std::size_t object = block / static_cast<std::size_t>(blocks);
                   const int first = static_cast<int>(block % static_cast<std::size_t>(blocks)) * kCopyBlock;
                   const fs::path of_side = folder / (is_tested_[object] ? "test" : "train");
                   const std::shared_ptr<const Lent> lent = open(objects_[object].picture);
                   for (int copy = first; copy < first + kCopyBlock && copy <= options_.copies; ++copy)
                     media::write_gray_png(of_side / fmt::format("{}{:04}.png", crop_name(object), copy),
                                           crop(object, copy, *lent).view());
                 });
}

void SampleFolder::write_scenes(const fs::path& folder, ProgressClock& clock) const {
  const auto with = static_cast<std::size_t>(options_.scenes);
  const std::size_t count = with + static_cast<std::size_t>(options_.empty_scenes);
  if (count == 0) return;
  clock.enter("making scenes", kSceneCost * static_cast<double>(count));
  fs::create_directory(folder / "scenes");
  std::vector<std::string> lines(count);
  for_each_image(count, clock, no_workspace(), [&](std::size_t i, int& /*workspace*/) {
    const bool is_empty = i >= with;
    const int number = static_cast<int>(is_empty ? i - with : i);
    const std::string name = fmt::format("{}-{:04}.png", is_empty ? "empty" : "scene", number + 1);
    const Scene scene = is_empty ? empty_scene(number) : this->scene(number);
    media::write_gray_png(folder / "scenes" / name, scene.pixels.view());
    for (const Box& box : scene.objects)
      lines[i] += fmt::format("{} {:.2f} {:.2f} {:.2f} {:.2f}\n", name, box.x, box.y, box.x + box.width,
                              box.y + box.height);
    if (scene.objects.empty()) lines[i] = name + '\n';
  });
  std::string list;
  for (const std::string& line : lines) list += line;
  write_whole(folder / "scenes.txt", list, "list");
}

void SampleFolder::write(const fs::path& folder, ProgressClock& clock) const {
  write_crops(folder, clock);
  write_scenes(folder, clock);
  write_lists(folder);
}

double SampleFolder::cost(std::size_t objects, const SampleFolderOptions& options) {
  return static_cast<double>(objects) * (2 + options.copies) +
         kSceneCost * (options.scenes + options.empty_scenes);
}

}  // namespace sightline::training
