#include <algorithm>
#include <cmath>

#include "detectors/cascade/kernels.hpp"
#include "image/integral.hpp"

namespace sightline::cascade::reference {
namespace {

// Over a rectangle of the window whose corner is pixel (x, y).
template <typename Sum>
auto sum_of(const IntegralPlane<Sum>& plane, int x, int y, const Rect& r) {
  return plane.sum(x + r.x, y + r.y, r.width, r.height);
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
    const IntegralPlane<const std::uint32_t> squares(
        layout, level, reinterpret_cast<const std::uint32_t*>(integrals), Layout::kSquares);
    const Rect inside{1, 1, model.window.width - 2, model.window.height - 2};
    const double area = inside.width * inside.height;
    const double sum = static_cast<std::int32_t>(sum_of(sums_, x, y, inside));
    const double square = sum_of(squares, x, y, inside);
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
      const std::uint32_t sum = feature.tilted
                                    ? tilted_.tilted_sum(x_ + rect.x, y_ + rect.y, rect.width, rect.height)
                                    : sum_of(sums_, x_, y_, rect);
      return feature.weights[i] * static_cast<float>(static_cast<std::int32_t>(sum));
    };
    float value = term(0) + term(1);
    if (feature.weights[2] != 0) value += term(2);
    return value;
  }

  const Model& model_;
  IntegralPlane<const std::uint32_t> sums_;
  IntegralPlane<const std::uint32_t> tilted_;
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
      return sum_of(
          sums_, x_, y_,
          {block.x + column * block.width, block.y + row * block.height, block.width, block.height});
    };
    constexpr int kRing[8][2] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
    const Sum middle = sum(1, 1);
    unsigned code = 0;
    for (const auto& [column, row] : kRing) code = code * 2 + (sum(column, row) >= middle ? 1 : 0);
    return code;
  }

  const Model& model_;
  IntegralPlane<const Sum> sums_;
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
