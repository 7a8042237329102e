#include "apps/train/sample_sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "drawing/canvas.hpp"

namespace sightline::apps {
namespace {

using training::SampleFolder;
using training::SampleFolderOptions;

constexpr int kCropColumns = 14;       // the object, and copies
constexpr std::size_t kTrainRows = 8;  // at most
constexpr std::size_t kTestRows = 3;
constexpr int kSceneColumns = 4;
constexpr double kTile = 92, kGap = 6, kBreak = 14;  // pixels; kBreak: between an object and its copies
constexpr double kEdge = 20, kHeading = 40;
constexpr double kWidth = 2 * kEdge + kCropColumns * kTile + (kCropColumns - 1) * kGap + kBreak;
constexpr Color kFaint{0.58, 0.61, 0.66, 1};
constexpr Color kMark{0.35, 0.85, 0.45, 1};

// Some of a list, evenly from the first to the last.
std::vector<std::size_t> some_of(const std::vector<std::size_t>& all, std::size_t most) {
  std::vector<std::size_t> some;
  const std::size_t count = std::min(all.size(), most);
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(all[count == 1 ? 0 : i * (all.size() - 1) / (count - 1)]);
  return some;
}

// "8 of 42 objects", "4 objects", "1 object".
std::string some_of_text(std::size_t shown, std::size_t all, const std::string& what) {
  return fmt::format("{}{} {}{}", shown < all ? fmt::format("{} of ", shown) : "", all, what,
                     all == 1 ? "" : "s");
}

class Sheet {
 public:
  Sheet(const SampleFolder& samples, const SampleFolderOptions& options)
      : samples_(samples),
        options_(options),
        trained_(some_of(samples.training().objects, kTrainRows)),
        tested_(some_of(samples.testing().objects, kTestRows)),
        canvas_(static_cast<int>(kWidth), static_cast<int>(std::ceil(height())), kSheetPaper) {}

  void write(const std::filesystem::path& file) {
    section("For training", samples_.training().objects.size(), trained_);
    section("For testing", samples_.testing().objects.size(), tested_);
    scenes();
    canvas_.write_png(file.string());
  }

 private:
  int scene_count() const { return std::min(options_.scenes, 2 * kSceneColumns); }
  double row_height() const { return kTile * options_.crop.object.height / side() + kGap; }
  // Of crops, whose longer side fills a tile.
  int side() const { return std::max(options_.crop.object.width, options_.crop.object.height); }
  static double scene_width() { return (kWidth - 2 * kEdge - (kSceneColumns - 1) * kGap) / kSceneColumns; }
  static double scene_height() { return scene_width() * 0.75; }

  double height() const {
    double height = kEdge;
    for (const std::size_t rows : {trained_.size(), tested_.size()})
      height += rows == 0 ? 0 : kHeading + static_cast<double>(rows) * row_height() + kEdge;
    const int rows = (scene_count() + kSceneColumns - 1) / kSceneColumns;
    return height + (rows == 0 ? 0 : kHeading + rows * (scene_height() + kGap) + kEdge);
  }

  void heading(const std::string& title, const std::string& figures) {
    canvas_.text(kEdge, top_ + 22, title, 19, kSheetInk, Align::left, FontWeight::bold);
    canvas_.text(kWidth - kEdge, top_ + 22, figures, 14, kFaint, Align::right);
    top_ += kHeading;
  }

  void section(const std::string& title, std::size_t objects, const std::vector<std::size_t>& shown) {
    if (shown.empty()) return;
    heading(title, fmt::format("{}: as marked, then the first of {} copies; {} crops of {}x{} pixels in all",
                               some_of_text(shown.size(), objects, "object"), options_.copies,
                               objects * static_cast<std::size_t>(1 + options_.copies),
                               options_.crop.size().width, options_.crop.size().height));
    for (const std::size_t object : shown) {
      for (int copy = 0; copy < kCropColumns && copy <= options_.copies; ++copy) {
        const Image<std::uint8_t> crop = samples_.crop(object, copy);
        const double width = kTile * options_.crop.object.width / side();
        const double left = kEdge + copy * (kTile + kGap) + (copy > 0 ? kBreak : 0) + (kTile - width) / 2;
        canvas_.draw(crop.view(), left, top_, width, row_height() - kGap);
      }
      top_ += row_height();
    }
    top_ += kEdge;
  }

  void scenes() {
    if (scene_count() == 0) return;
    const auto shown = static_cast<std::size_t>(scene_count()),
               all = static_cast<std::size_t>(options_.scenes);
    heading("Test scenes", fmt::format("{}, and {} without objects", some_of_text(shown, all, "scene"),
                                       options_.empty_scenes));
    for (int i = 0; i < scene_count(); ++i) {
      const training::Scene scene = samples_.scene(i);
      const GrayView pixels = scene.pixels.view();
      const double zoom = std::min(scene_width() / pixels.width(), scene_height() / pixels.height());
      const double left =
          kEdge + i % kSceneColumns * (scene_width() + kGap) + (scene_width() - zoom * pixels.width()) / 2;
      const double top =
          top_ + i / kSceneColumns * (scene_height() + kGap) + (scene_height() - zoom * pixels.height()) / 2;
      canvas_.draw(pixels, left, top, zoom * pixels.width(), zoom * pixels.height());
      for (const Box& box : scene.objects)
        canvas_.stroke_rectangle(left + zoom * box.x, top + zoom * box.y, zoom * box.width, zoom * box.height,
                                 kMark, 2);
    }
  }

  const SampleFolder& samples_;
  const SampleFolderOptions& options_;
  const std::vector<std::size_t> trained_, tested_;
  Canvas canvas_;
  double top_ = kEdge;
};

}  // namespace

void write_sample_sheet(const std::filesystem::path& file, const SampleFolder& samples,
                        const SampleFolderOptions& options) {
  Sheet(samples, options).write(file);
}

}  // namespace sightline::apps
