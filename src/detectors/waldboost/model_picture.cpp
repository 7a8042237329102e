#include "detectors/waldboost/model_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace sightline::waldboost {
namespace {

constexpr Color kPaper{1, 1, 1};
constexpr Color kInk{0.12, 0.13, 0.16};
constexpr Color kFaint{0.45, 0.47, 0.52};
constexpr Color kFrame{0.70, 0.72, 0.76};
constexpr Color kGridLines{0.08, 0.30, 0.66};
constexpr Color kFirstBlock{0.78, 0.25, 0.05};
constexpr Color kSecondBlock{0.96, 0.72, 0.55};
constexpr Color kHot{0.78, 0.25, 0.05};

constexpr int kMostGrids = 24;
constexpr int kColumns = 8;
constexpr double kMargin = 28;
constexpr double kTitle = 92;    // title and first line
constexpr double kCaption = 52;  // above grids and map
constexpr double kFoot = 48;     // below the map: its scale
constexpr double kWindow = 112;  // the longer side of a window with a grid
constexpr double kStep = 26;     // between two of them, with the number below
constexpr double kMap = 400;     // the longer side of the map

Color mix(const Color& a, const Color& b, double share) {
  return {a.red + share * (b.red - a.red), a.green + share * (b.green - a.green),
          a.blue + share * (b.blue - a.blue), 1};
}

class Drawing {
 public:
  explicit Drawing(const Model& model)
      : model_(model),
        grids_(std::min(model.size(), kMostGrids)),
        longer_(std::max(model.window.width, model.window.height)),
        canvas_(1, 1, kPaper) {
    const int rows = (grids_ + kColumns - 1) / kColumns;
    const double height = std::max(rows * (kWindow + kStep), kMap + kFoot);
    canvas_ = Canvas(static_cast<int>(map_left() + kMap + kMargin),
                     static_cast<int>(top() + height + kMargin), kPaper);
  }

  Canvas draw() {
    canvas_.text(kMargin, 42, "Where the model for '" + model_.label + "' looks", 26, kInk, Align::left,
                 FontWeight::bold);
    canvas_.text(kMargin, 70,
                 fmt::format("{} weak classifiers of {} ({}), window {} x {} pixels", model_.size(),
                             model_.kind == FeatureKind::haar ? "two to four cells" : "3x3 blocks",
                             to_string(model_.kind), model_.window.width, model_.window.height),
                 15, kFaint);
    caption(kMargin, grids_ == 1 ? "The weak classifier" : fmt::format("The first {}", grids_),
            what_is_filled());
    for (int weak = 0; weak < grids_; ++weak) draw_grid(weak);
    caption(map_left(), "All of them", "number of classifiers over each pixel");
    draw_map();
    return std::move(canvas_);
  }

 private:
  static double top() { return kTitle + kCaption; }
  static double map_left() { return kMargin + kColumns * (kWindow + kStep) + kMargin; }

  void caption(double x, const std::string& title, const std::string& line) {
    canvas_.text(x, top() - 30, title, 17, kInk, Align::left, FontWeight::bold);
    canvas_.text(x, top() - 10, line, 12.5, kFaint);
  }

  // The windows' outline, `zoom` pixels a pixel.
  void frame(double left, double above, double zoom) {
    canvas_.stroke_rectangle(left, above, model_.window.width * zoom, model_.window.height * zoom, kFrame);
  }

  void draw_grid(int weak) {
    const double zoom = kWindow / longer_;
    const double left = kMargin + weak % kColumns * (kWindow + kStep);
    const double above = top() + weak / kColumns * (kWindow + kStep);
    const Feature& feature = model_.features[weak];
    const double width = feature.block_width * zoom;
    const double height = feature.block_height * zoom;
    frame(left, above, zoom);
    const Size grid = grid_of(model_.kind, feature);
    for (int block = 0; block < grid.width * grid.height; ++block) {
      const double x = left + feature.x * zoom + block % grid.width * width;
      const double y = above + feature.y * zoom + block / grid.width * height;
      if (const Color* color = filling(feature, block)) canvas_.fill_rectangle(x, y, width, height, *color);
      canvas_.stroke_rectangle(x, y, width, height, kGridLines);
    }
    canvas_.text(left, above + model_.window.height * zoom + 14, std::to_string(weak + 1), 11, kFaint);
  }

  const char* what_is_filled() const {
    if (model_.kind == FeatureKind::lbp) return "each neighbour is compared with the middle block";
    if (model_.kind == FeatureKind::haar) return "bright cells are compared with dark ones";
    return "filled: the compared blocks, the first one darker";
  }

  // Null if the block is empty.
  const Color* filling(const Feature& feature, int block) const {
    if (model_.kind == FeatureKind::lbp) return block == kBlocks / 2 ? &kSecondBlock : nullptr;
    if (model_.kind == FeatureKind::haar)
      return kHaarShapes[feature.first].is_bright(block) ? &kSecondBlock : &kFirstBlock;
    if (block == feature.first) return &kFirstBlock;
    return block == feature.second ? &kSecondBlock : nullptr;
  }

  void draw_map() {
    const double zoom = kMap / longer_;
    const std::vector<std::int32_t> counts = coverage(model_);
    const std::int32_t most = std::ranges::max(counts);
    for (int y = 0; y < model_.window.height; ++y) {
      for (int x = 0; x < model_.window.width; ++x) {
        const double share = static_cast<double>(counts[y * model_.window.width + x]) / most;
        canvas_.fill_rectangle(map_left() + x * zoom, top() + y * zoom, zoom + 0.5, zoom + 0.5,
                               mix(kPaper, kHot, share));
      }
    }
    frame(map_left(), top(), zoom);
    const double y = top() + model_.window.height * zoom + 16;
    for (int i = 0; i < 80; ++i)
      canvas_.fill_rectangle(map_left() + i, y, 1.5, 10, mix(kPaper, kHot, i / 79.0));
    canvas_.stroke_rectangle(map_left(), y, 80, 10, kFrame);
    canvas_.text(map_left() + 88, y + 10, "0 to " + std::to_string(most), 12, kFaint);
  }

  const Model& model_;
  int grids_;
  int longer_;
  Canvas canvas_;
};

}  // namespace

std::vector<std::int32_t> coverage(const Model& model) {
  std::vector<std::int32_t> counts(static_cast<std::size_t>(model.window.width) * model.window.height);
  for (const Feature& feature : model.features) {
    const Size grid = grid_of(model.kind, feature);
    for (int y = feature.y; y < feature.y + grid.height * feature.block_height; ++y) {
      for (int x = feature.x; x < feature.x + grid.width * feature.block_width; ++x)
        ++counts[static_cast<std::size_t>(y) * model.window.width + x];
    }
  }
  return counts;
}

Canvas draw_model(const Model& model) {
  return Drawing(model).draw();
}

}  // namespace sightline::waldboost
