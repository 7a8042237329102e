#include "detectors/filterbank/model_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

namespace sightline::filterbank {
namespace {

constexpr Color kPaper{1, 1, 1};
constexpr Color kInk{0.12, 0.13, 0.16};
constexpr Color kFaint{0.45, 0.47, 0.52};
constexpr Color kFrame{0.70, 0.72, 0.76};
constexpr Color kFor{0.78, 0.25, 0.05};
constexpr Color kAgainst{0.08, 0.30, 0.66};
constexpr Color kObject{0.10, 0.55, 0.25};

constexpr double kMargin = 28;
constexpr double kTitleHeight = 92;  // title and first line
constexpr double kCaption = 58;      // above each panel
constexpr double kFoot = 66;         // below the panels: how to read them
constexpr double kTile = 39;         // a filter: 3x3 squares
constexpr double kTileStepX = 50;
constexpr double kTileStepY = 66;
constexpr int kMostStructures = 6;

Color mix(const Color& a, const Color& b, double share) {
  const double s = std::clamp(share, 0.0, 1.0);
  return {a.red + s * (b.red - a.red), a.green + s * (b.green - a.green), a.blue + s * (b.blue - a.blue), 1};
}

Color gray(double value) {
  const double v = std::clamp(value, 0.0, 1.0);
  return {v, v, v, 1};
}

using Pattern = std::array<double, kTaps>;

// Sums of weights over the window's blocks, its filters (both of one sign), and its cells by filter. A
// filter's two bins, where it has them, count together, and patterns for blocks alone.
struct WeightSums {
  std::vector<double> blocks;   // [block y][block x]
  std::vector<double> filters;  // [filter]
  std::vector<double> cells;    // [cell y][cell x][filter], of either sign
};

// Sums of a template's weights above 0 (`sign` 1), or of the negated ones below 0 (`sign` -1).
WeightSums sum_weights(const Model& model, int template_index, int sign) {
  const WindowShape window = model.window;
  const int filters = model.dictionary.size();
  WeightSums sums{std::vector<double>(window.blocks()), std::vector<double>(filters),
                  std::vector<double>(static_cast<std::size_t>(window.cells_x) * window.cells_y * filters)};
  const std::int8_t* weight = model.weights.data() + template_index * model.weights_per_template();
  for (int block = 0; block < window.blocks(); ++block) {
    for (int cell = 0; cell < kBlockCells; ++cell) {
      const int x = block % window.blocks_x() + cell % 2;
      const int y = block / window.blocks_x() + cell / 2;
      for (int bin = 0; bin < model.bins(); ++bin, ++weight) {
        const int k = bin % filters;
        const double value = std::max(0, sign * *weight);
        sums.blocks[block] += value;
        sums.filters[k] += value;
        sums.cells[(static_cast<std::size_t>(y) * window.cells_x + x) * filters + k] += *weight;
      }
    }
    for (int i = 0; i < model.descriptor.pattern_bins(); ++i, ++weight)
      sums.blocks[block] += std::max(0, sign * *weight);
  }
  return sums;
}

// The pattern p of unit length with the largest sum of w_k (f_k . p)^2, times the square root of that sum;
// all 0 if no pattern has a sum above 0.
Pattern common_pattern(const Dictionary& dictionary, const double* weights, int sign) {
  double moments[kTaps][kTaps] = {};
  double norm = 0;
  for (int k = 0; k < dictionary.size(); ++k) {
    const FloatFilter& f = dictionary.reference()[k];
    for (int i = 0; i < kTaps; ++i) {
      for (int j = 0; j < kTaps; ++j) moments[i][j] += sign * weights[k] * f[i] * f[j];
    }
  }
  for (const auto& row : moments) {
    for (const double v : row) norm += v * v;
  }
  // Power iteration; with the norm added, the largest eigenvalue is also the largest in magnitude. The start
  // has no filter's symmetry, so that it is not orthogonal to the answer.
  norm = std::sqrt(norm);
  Pattern pattern{1.0, 0.9, -0.4, 0.7, 0.1, -0.6, 0.3, -0.8, -1.1};
  double length = 0;
  for (int round = 0; round < 200; ++round) {
    Pattern next{};
    for (int i = 0; i < kTaps; ++i) {
      next[i] = norm * pattern[i];
      for (int j = 0; j < kTaps; ++j) next[i] += moments[i][j] * pattern[j];
    }
    length = 0;
    for (const double v : next) length += v * v;
    length = std::sqrt(length);
    if (length == 0) return {};
    for (int i = 0; i < kTaps; ++i) pattern[i] = next[i] / length;
  }
  // Either sign is as good: the brighter half is up, or left.
  double tilt = 0;
  for (int i = 0; i < kTaps; ++i) tilt -= pattern[i] * (3.1 * (i / 3 - 1) + (i % 3 - 1));
  for (double& v : pattern) v *= (tilt < 0 ? -1 : 1) * std::max(length - norm, 0.0);
  return pattern;
}

std::string grouped(double number) {
  std::string text = std::to_string(static_cast<long long>(std::llround(number)));
  for (int at = static_cast<int>(text.size()) - 3; at > (text[0] == '-' ? 1 : 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string short_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

class Drawing {
 public:
  explicit Drawing(const Model& model) : model_(model), canvas_(1, 1, kPaper) {
    const Size window = model.window.pixels();
    zoom_ = std::clamp(std::min(560.0 / window.height, 440.0 / window.width), 0.5, 10.0);
    const int rows = (model.dictionary.size() + columns() - 1) / columns();
    dictionary_width_ = columns() * kTileStepX;
    panels_ =
        model.classifier == ClassifierKind::linear ? 4 : 1 + std::min(model.templates(), kMostStructures);
    const double height = std::max(rows * kTileStepY, window.height * zoom_ + kFoot);
    const double width = dictionary_width_ + panels_ * (panel_width() + kMargin);
    canvas_ = Canvas(static_cast<int>(width + 2 * kMargin),
                     static_cast<int>(kTitleHeight + kCaption + height + kMargin / 2), kPaper);
  }

  Canvas draw() {
    draw_head();
    if (model_.classifier == ClassifierKind::linear) {
      draw_linear();
    } else {
      draw_templates();
    }
    return std::move(canvas_);
  }

 private:
  int columns() const { return model_.dictionary.size() > 128 ? 16 : model_.dictionary.size() > 36 ? 10 : 6; }
  double top() const { return kTitleHeight + kCaption; }
  double panel_width() const { return std::max(model_.window.pixels().width * zoom_, 215.0); }
  double panel_left(int panel) const {
    return kMargin + dictionary_width_ + kMargin + panel * (panel_width() + kMargin);
  }

  void draw_head() {
    const Size window = model_.window.pixels();
    const bool linear = model_.classifier == ClassifierKind::linear;
    canvas_.text(kMargin, 42, "What the model has learned about '" + model_.label + "'", 26, kInk,
                 Align::left, FontWeight::bold);
    canvas_.text(kMargin, 70,
                 std::to_string(model_.dictionary.size()) + " filters of 3x3, " +
                     (linear ? "linear classifier" : std::to_string(model_.templates()) + " templates") +
                     ", window " + std::to_string(window.width) + " x " + std::to_string(window.height) +
                     " pixels, " + std::to_string(model_.window.blocks()) + " blocks, threshold " +
                     short_number(model_.threshold),
                 15, kFaint);
  }

  void caption(double x, const std::string& title, const std::string& line, const Color& color = kInk) {
    canvas_.text(x, top() - 34, title, 17, color, Align::left, FontWeight::bold);
    canvas_.text(x, top() - 13, line, 12.5, kFaint);
  }

  // 3x3 squares around mid-gray; `scale` is the value that is white.
  template <typename Values>
  void draw_pattern(const Values& values, double scale, double x, double y, double side) {
    for (int i = 0; i < kTaps; ++i) {
      const double value = scale > 0 ? static_cast<double>(values[i]) / scale : 0;
      canvas_.fill_rectangle(x + i % 3 * side / 3, y + i / 3 * side / 3, side / 3 + 0.5, side / 3 + 0.5,
                             gray(0.5 + 0.5 * value));
    }
  }

  // The filters by index; below each, bars of how much weight it has for and against.
  void draw_dictionary(const std::vector<double>& pros, const std::vector<double>& cons,
                       const std::string& line) {
    caption(kMargin, "Dictionary", line);
    const double most = std::max(largest(pros), cons.empty() ? 0.0 : largest(cons));
    for (int k = 0; k < model_.dictionary.size(); ++k) {
      const Filter& filter = model_.dictionary.filters()[k];
      int strongest = 1;
      for (const int c : filter) strongest = std::max(strongest, std::abs(c));
      const double x = kMargin + k % columns() * kTileStepX;
      const double y = top() + k / columns() * kTileStepY;
      draw_pattern(filter, strongest, x, y, kTile);
      canvas_.stroke_rectangle(x, y, kTile, kTile, kFrame);
      const std::string index = std::to_string(k);
      canvas_.text(x, y + kTile + 17, index, 9.5, kFaint);
      const double bar = kTile - 21;
      if (most > 0) {
        canvas_.fill_rectangle(x + 21, y + kTile + 6, bar * pros[k] / most, 5, kFor);
        if (!cons.empty()) canvas_.fill_rectangle(x + 21, y + kTile + 12, bar * cons[k] / most, 5, kAgainst);
      }
    }
  }

  static double largest(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  }

  // The window's outline and the object's box.
  void draw_window(double x) {
    const Size window = model_.window.pixels();
    canvas_.stroke_rectangle(x, top(), window.width * zoom_, window.height * zoom_, kFrame);
    const Box& o = model_.object;
    canvas_.stroke_rectangle(x + o.x * zoom_, top() + o.y * zoom_, o.width * zoom_, o.height * zoom_, kObject,
                             1.5);
  }

  // Every block as a square around its middle, which is a corner of four cells.
  void draw_heat(int panel, const std::vector<double>& blocks, double most, const Color& color) {
    const double left = panel_left(panel);
    const double side = kCell * zoom_;
    for (int block = 0; block < model_.window.blocks(); ++block) {
      const double x = left + (block % model_.window.blocks_x() + 0.5) * side;
      const double y = top() + (block / model_.window.blocks_x() + 0.5) * side;
      canvas_.fill_rectangle(x, y, side + 0.5, side + 0.5,
                             mix(kPaper, color, most > 0 ? blocks[block] / most : 0));
    }
    draw_window(left);
    draw_scale(left, most, color);
  }

  void draw_scale(double x, double most, const Color& color) {
    const double y = top() + model_.window.pixels().height * zoom_ + 16;
    for (int i = 0; i < 80; ++i) canvas_.fill_rectangle(x + i, y, 1.5, 10, mix(kPaper, color, i / 79.0));
    canvas_.stroke_rectangle(x, y, 80, 10, kFrame);
    canvas_.text(x + 88, y + 10, "0 to " + grouped(most), 12, kFaint);
  }

  // Every cell's common pattern; its contrast says how strong it is.
  void draw_structure(int panel, const std::vector<double>& cells, int sign) {
    const double left = panel_left(panel);
    const double side = kCell * zoom_;
    const int count = model_.window.cells_x * model_.window.cells_y;
    std::vector<Pattern> patterns;
    double most = 0;
    for (int cell = 0; cell < count; ++cell) {
      patterns.push_back(common_pattern(
          model_.dictionary, cells.data() + static_cast<std::size_t>(cell) * model_.dictionary.size(), sign));
      for (const double v : patterns.back()) most = std::max(most, std::fabs(v));
    }
    for (int cell = 0; cell < count; ++cell) {
      draw_pattern(patterns[cell], most, left + cell % model_.window.cells_x * side,
                   top() + cell / model_.window.cells_x * side, side);
    }
    draw_window(left);
    const double y = top() + model_.window.pixels().height * zoom_ + 26;
    if (panel == first_structure()) {
      canvas_.text(left, y, "One 3x3 pattern per cell of 8x8 pixels; more contrast means more weight.", 12,
                   kFaint);
      canvas_.text(left, y + 18,
                   "Inverted patterns are equivalent: only structure counts. Green: the object's box.", 12,
                   kFaint);
    }
  }

  int first_structure() const { return model_.classifier == ClassifierKind::linear ? 2 : 1; }

  void draw_linear() {
    const WeightSums pros = sum_weights(model_, 0, 1);
    const WeightSums cons = sum_weights(model_, 0, -1);
    draw_dictionary(pros.filters, cons.filters, "bars: weight of the filter for (red) and against (blue)");
    caption(panel_left(0), "For", "sum of the weights above 0, by block", kFor);
    draw_heat(0, pros.blocks, largest(pros.blocks), kFor);
    caption(panel_left(1), "Against", "sum of the weights below 0, by block", kAgainst);
    draw_heat(1, cons.blocks, largest(cons.blocks), kAgainst);
    caption(panel_left(2), "Structure sought", "pattern that raises the score, by cell", kFor);
    draw_structure(2, pros.cells, 1);
    caption(panel_left(3), "Structure shunned", "pattern that lowers it, by cell", kAgainst);
    draw_structure(3, pros.cells, -1);
  }

  void draw_templates() {
    std::vector<double> blocks(model_.window.blocks());
    std::vector<double> filters(model_.dictionary.size());
    for (int t = 0; t < model_.templates(); ++t) {
      const WeightSums sums = sum_weights(model_, t, 1);
      for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] += sums.blocks[i] / model_.templates();
      for (std::size_t i = 0; i < filters.size(); ++i) filters[i] += sums.filters[i];
      if (t >= kMostStructures) continue;
      caption(panel_left(1 + t),
              "Template " + std::to_string(t + 1) + " of " + std::to_string(model_.templates()),
              "common structure of its filters, by cell");
      draw_structure(1 + t, sums.cells, 1);
    }
    draw_dictionary(filters, {}, "bars: share of the filter in the templates");
    caption(panel_left(0), "Mean template", "sum of the features, by block", kFor);
    draw_heat(0, blocks, largest(blocks), kFor);
  }

  const Model& model_;
  Canvas canvas_;
  double zoom_ = 1;
  double dictionary_width_ = 0;
  int panels_ = 0;
};

}  // namespace

bool can_draw(const Model& model) {
  return model.dictionary.patch() == 3;
}

Canvas draw_model(const Model& model) {
  return Drawing(model).draw();
}

}  // namespace sightline::filterbank
