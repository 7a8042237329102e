#include <algorithm>
#include <cmath>

#include "cascade/kernels.hpp"

namespace sightline::cascade::reference {
namespace {

// One plane of a level's integrals.
template <typename Sum>
class Plane {
 public:
  Plane(const Layout& layout, const Level& level, Sum* integrals, int plane)
      : layout_(layout), step_(level.step), origin_(integrals + plane * layout.plane + level.origin) {}

  Sum& at(int x, int y) const {
    return origin_[static_cast<std::ptrdiff_t>(y) * layout_.stride + layout_.column(step_, x)];
  }

  // Of an upright rectangle; wraps around.
  Sum sum(int x, int y, const Rect& r) const {
    x += r.x;
    y += r.y;
    return static_cast<Sum>(at(x, y) - at(x + r.width, y) - at(x, y + r.height) +
                            at(x + r.width, y + r.height));
  }
  Sum tilted_sum(int x, int y, const Rect& r) const {
    x += r.x;
    y += r.y;
    return static_cast<Sum>(at(x, y) - at(x - r.height, y + r.height) - at(x + r.width, y + r.width) +
                            at(x + r.width - r.height, y + r.width + r.height));
  }

 private:
  const Layout& layout_;
  int step_;
  Sum* origin_;
};

struct Value {
  template <typename Sum>
  static Sum of(std::uint8_t pixel) {
    return pixel;
  }
};
struct Square {
  template <typename Sum>
  static Sum of(std::uint8_t pixel) {
    return static_cast<Sum>(pixel * pixel);
  }
};

// Sums of what `Of` makes of the pixels.
template <typename Of, typename Sum>
void integrate_upright(GrayView image, const Plane<Sum>& sums, int y_begin, int y_end) {
  for (int x = 0; x <= image.width(); ++x) sums.at(x, y_begin) = 0;
  for (int y = y_begin; y < y_end; ++y) {
    Sum row = 0;
    sums.at(0, y + 1) = 0;
    for (int x = 0; x < image.width(); ++x) {
      row = static_cast<Sum>(row + Of::template of<Sum>(image.at(x, y)));
      sums.at(x + 1, y + 1) = static_cast<Sum>(sums.at(x + 1, y) + row);
    }
  }
}

// A triangle is the two that hang from its upper neighbours, less what these share, and the two pixels that
// neither has. Beyond the edges, T(-1, Y) = T(0, Y - 1) and T(width + 1, Y) = T(width, Y - 1).
void integrate_tilted(GrayView image, const Plane<std::uint32_t>& tilted, int y_begin, int y_end) {
  const int width = image.width();
  const auto above = [&](int x, int y) -> std::uint32_t {
    if (x < 0 || x > width) {
      x = x < 0 ? 0 : width;
      --y;
    }
    return y <= y_begin ? 0 : tilted.at(x, y);
  };
  const auto pixel = [&](int x, int y) -> std::uint32_t { return x < 0 || y < y_begin ? 0 : image.at(x, y); };
  for (int x = 0; x <= width; ++x) tilted.at(x, y_begin) = 0;
  for (int y = y_begin + 1; y <= y_end; ++y) {
    for (int x = 0; x <= width; ++x) {
      tilted.at(x, y) = above(x - 1, y - 1) + above(x + 1, y - 1) - above(x, y - 2) + pixel(x - 1, y - 1) +
                        pixel(x - 1, y - 2);
    }
  }
}

// A window of a Haar cascade.
class HaarWindow {
 public:
  HaarWindow(const Model& model, const Layout& layout, const Level& level, const std::byte* integrals, int x,
             int y)
      : model_(model),
        sums_(layout, level, reinterpret_cast<const std::uint32_t*>(integrals), 0),
        tilted_(layout, level, reinterpret_cast<const std::uint32_t*>(integrals),
                model.has_tilted ? Layout::kTilted : 0),
        x_(x),
        y_(y) {
    const Plane<const std::uint32_t> squares(layout, level, reinterpret_cast<const std::uint32_t*>(integrals),
                                             Layout::kSquares);
    const Rect inside{1, 1, model.window.width - 2, model.window.height - 2};
    const double area = inside.width * inside.height;
    const double sum = static_cast<std::int32_t>(sums_.sum(x, y, inside));
    const double square = squares.sum(x, y, inside);
    const double variance = area * square - sum * sum;
    if (!(variance > 0)) return;
    norm_ = static_cast<float>(1.0 / std::sqrt(variance));
    flat_ = !(area * norm_ < 1e-1);
  }

  bool flat() const { return flat_; }
  bool goes_left(const Node& node) const { return value(model_.haar[node.feature]) * norm_ < node.threshold; }

 private:
  float value(const HaarFeature& feature) const {
    const auto term = [&](int i) {
      const Rect& rect = feature.rects[i];
      const std::uint32_t sum = feature.tilted ? tilted_.tilted_sum(x_, y_, rect) : sums_.sum(x_, y_, rect);
      return feature.weights[i] * static_cast<float>(static_cast<std::int32_t>(sum));
    };
    float value = term(0) + term(1);
    if (feature.weights[2] != 0) value += term(2);
    return value;
  }

  const Model& model_;
  Plane<const std::uint32_t> sums_;
  Plane<const std::uint32_t> tilted_;
  int x_;
  int y_;
  float norm_ = 1;
  bool flat_ = true;
};

// A window of an LBP cascade.
template <typename Sum>
class LbpWindow {
 public:
  LbpWindow(const Model& model, const Layout& layout, const Level& level, const std::byte* integrals, int x,
            int y)
      : model_(model), sums_(layout, level, reinterpret_cast<const Sum*>(integrals), 0), x_(x), y_(y) {}

  static bool flat() { return false; }
  bool goes_left(const Node& node) const {
    const unsigned code = pattern(model_.lbp[node.feature]);
    const auto index = static_cast<std::int32_t>(&node - model_.nodes.data());
    return (model_.subset(index)[code / 32] >> (code % 32) & 1U) != 0;
  }

 private:
  unsigned pattern(const Rect& block) const {
    const auto sum = [&](int column, int row) {
      return sums_.sum(
          x_, y_, {block.x + column * block.width, block.y + row * block.height, block.width, block.height});
    };
    constexpr int kRing[8][2] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
    const Sum middle = sum(1, 1);
    unsigned code = 0;
    for (const auto& [column, row] : kRing) code = code * 2 + (sum(column, row) >= middle ? 1 : 0);
    return code;
  }

  const Model& model_;
  Plane<const Sum> sums_;
  int x_;
  int y_;
};

template <typename Window>
double stage_sum(const Model& model, const BoostingStage& stage, const Window& window) {
  double sum = 0;
  for (int t = 0; t < stage.trees; ++t) {
    const Tree& tree = model.trees[static_cast<std::size_t>(stage.first_tree) + t];
    std::int32_t at = 0;
    do {
      const Node& node = model.nodes[static_cast<std::size_t>(tree.first_node) + at];
      at = window.goes_left(node) ? node.left : node.right;
    } while (at > 0);
    sum += static_cast<double>(model.leaves[static_cast<std::size_t>(tree.first_leaf) - at]);
  }
  return sum;
}

template <typename Window>
WindowResult run_stages(const Model& model, const Window& window, int first_stage, int last_stage) {
  WindowResult result;
  if (window.flat()) {
    result.verdict = Verdict::flat;
    return result;
  }
  for (int s = first_stage; s < last_stage; ++s) {
    const BoostingStage& stage = model.stages[s];
    result.stage = s;
    result.sum = stage_sum(model, stage, window);
    if (result.sum < static_cast<double>(stage.threshold)) {
      result.verdict = Verdict::rejected;
      break;
    }
  }
  return result;
}

}  // namespace

void resize_rows(GrayView frame, const SampleAxis& columns, const SampleAxis& rows, int y_begin, int y_end,
                 ImageView<std::uint8_t> image) {
  constexpr unsigned kOne = 256;
  for (int y = y_begin; y < y_end; ++y) {
    const std::uint8_t* const upper = frame.row(rows.first[y]);
    const std::uint8_t* const lower = frame.row(rows.second[y]);
    const unsigned weight_y = rows.weight[y];
    for (int x = 0; x < image.width(); ++x) {
      const unsigned weight_x = columns.weight[x];
      const auto mix = [&](const std::uint8_t* row) {
        return row[columns.first[x]] * (kOne - weight_x) + row[columns.second[x]] * weight_x;
      };
      image.at(x, y) = static_cast<std::uint8_t>(
          (mix(upper) * (kOne - weight_y) + mix(lower) * weight_y + kOne * kOne / 2) / (kOne * kOne));
    }
  }
}

void integrate(GrayView image, const Layout& layout, const Level& level, int plane, int y_begin, int y_end,
               std::byte* integrals) {
  if (layout.element_bytes == 2) {
    const Plane<std::uint16_t> sums(layout, level, reinterpret_cast<std::uint16_t*>(integrals), plane);
    integrate_upright<Value>(image, sums, y_begin, y_end);
    return;
  }
  const Plane<std::uint32_t> sums(layout, level, reinterpret_cast<std::uint32_t*>(integrals), plane);
  if (plane == Layout::kTilted) {
    integrate_tilted(image, sums, y_begin, y_end);
  } else if (plane == Layout::kSquares) {
    integrate_upright<Square>(image, sums, y_begin, y_end);
  } else {
    integrate_upright<Value>(image, sums, y_begin, y_end);
  }
}

WindowResult run_window(const Model& model, const Layout& layout, const Level& level,
                        const std::byte* integrals, int x, int y, int first_stage, int last_stage) {
  if (model.kind == FeatureKind::haar)
    return run_stages(model, HaarWindow(model, layout, level, integrals, x, y), first_stage, last_stage);
  if (layout.element_bytes == 2) {
    return run_stages(model, LbpWindow<std::uint16_t>(model, layout, level, integrals, x, y), first_stage,
                      last_stage);
  }
  return run_stages(model, LbpWindow<std::uint32_t>(model, layout, level, integrals, x, y), first_stage,
                    last_stage);
}

void scan_row(const Model& model, const Layout& layout, int level, const std::byte* integrals, int row,
              int stages, std::vector<Survivor>& survivors) {
  const Level& l = layout.levels[level];
  const int y = row * l.step;
  for (int i = 0; i < l.windows.width; ++i) {
    const int x = i * l.step;
    const WindowResult result = run_window(model, layout, l, integrals, x, y, 0, stages);
    if (result.verdict == Verdict::passed) survivors.push_back({level, x, y});
    if (result.verdict == Verdict::rejected && result.stage == 0) ++i;
  }
}

void finish(const Model& model, const Layout& layout, const std::byte* integrals,
            std::span<const Survivor> survivors, int first_stage, std::vector<Candidate>& candidates) {
  const int last = static_cast<int>(model.stages.size());
  for (const Survivor& s : survivors) {
    // The last stage's sum is the score, so it runs even where all have.
    const int first = std::min(first_stage, last - 1);
    const WindowResult result =
        run_window(model, layout, layout.levels[s.level], integrals, s.x, s.y, first, last);
    if (result.verdict != Verdict::passed) continue;
    candidates.push_back({s, result.sum - static_cast<double>(model.stages.back().threshold)});
  }
}

}  // namespace sightline::cascade::reference
