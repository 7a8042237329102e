#include "network/plan/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/markup.hpp"
#include "network/plan/node_text.hpp"

namespace sightline::nn {
namespace {

// In SVG units.
constexpr double kBoxWidth = 224, kBetweenBoxes = 24, kBetweenWaves = 34, kLineHeight = 15, kInside = 8,
                 kLeft = 44;
constexpr std::size_t kMostLines = 9, kMostLetters = 32;

std::string shortened(std::string text) {
  if (text.size() > kMostLetters) text = text.substr(0, kMostLetters - 3) + "...";
  return text;
}

struct Box {
  int row = 0;
  std::vector<std::string> lines = {};
  std::vector<std::string> stored = {};  ///< shapes
  bool is_grey = false;
  double x = 0, y = 0;              ///< of its middle, and of its top
  std::set<std::size_t> read = {};  ///< boxes whose tensors it reads

  double height() const {
    return 2 * kInside + kLineHeight * static_cast<double>(lines.size() + stored.size());
  }
  double bottom() const { return y + height(); }
};

class Drawing {
 public:
  explicit Drawing(const Fusion& fusion) : fusion_(fusion), box_of_tensor_(fusion.graph.tensors().size(), 0) {
    add_inputs();
    add_groups();
    add_stored();
    add_outputs();
    place();
  }

  std::string text() const {
    double width = 0, height = 0;
    for (const Box& box : boxes_) {
      width = std::max(width, box.x + kBoxWidth / 2 + kBetweenBoxes);
      height = std::max(height, box.bottom() + kBetweenBoxes);
    }
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#56758f\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        width, height, width);
    for (const Box& box : boxes_) {
      for (const std::size_t from : box.read) svg += arrow(boxes_[from], box);
    }
    for (const Box& box : boxes_) svg += drawn(box);
    for (int wave = 1; wave <= fusion_.waves; ++wave)
      svg += fmt::format("<text x=\"10\" y=\"{:.1f}\" fill=\"#888\">{}</text>\n", tops_.at(wave) + 20, wave);
    return svg + "</svg>\n";
  }

 private:
  int last_row() const { return fusion_.waves + 1; }

  std::size_t add(int row) {
    boxes_.push_back({row});
    return boxes_.size() - 1;
  }

  void add_inputs() {
    for (const int input : fusion_.graph.inputs()) {
      const std::size_t box = add(0);
      boxes_[box].lines = {shortened(fusion_.graph.tensor(input).name)};
      boxes_[box].stored = {text_of(fusion_.graph.type(input))};
      box_of_tensor_[to_size(input)] = box;
    }
  }

  // A box by group, and one by node that comes last.
  void add_groups() {
    std::map<int, std::size_t> boxes;
    for (const int node : needed_nodes(fusion_.graph)) {
      const GraphNode& one = fusion_.graph.node(node);
      if (is_view(one.primitive)) continue;
      const int wave = fusion_.wave[to_size(node)];
      const auto [group, is_new] =
          boxes.try_emplace(wave == kNone ? -1 - node : fusion_.group[to_size(node)], boxes_.size());
      if (is_new) add(wave == kNone ? last_row() : wave);
      add_line(boxes_[group->second].lines, node);
      boxes_[group->second].is_grey = wave == kNone || fusion_.is_alone[to_size(node)];
      for (const int output : one.outputs) box_of_tensor_[to_size(output)] = group->second;
      for (const int input : one.inputs) add_reader(input, group->second);
    }
    for (Box& box : boxes_) shorten(box.lines);
  }

  // Maps share a line.
  void add_line(std::vector<std::string>& lines, int node) {
    const std::string line = text_of(fusion_.graph, fusion_.graph.node(node));
    const auto is_map = [&](int of) {
      return of != kNone && std::holds_alternative<Map>(fusion_.graph.node(of).primitive);
    };
    const int before = std::exchange(last_, node);
    if (!lines.empty() && is_map(node) && is_map(before) && lines.back().size() + line.size() < kMostLetters)
      lines.back() += ", " + line;
    else
      lines.push_back(line);
  }

  // Boxes that read a tensor read what it shows.
  void add_reader(int tensor, std::size_t reader) {
    for (const Source& source : fusion_.tensors[to_size(tensor)].sources) {
      const std::size_t maker = box_of_tensor_[to_size(source.tensor)];
      if (maker == reader) continue;
      boxes_[reader].read.insert(maker);
      stored_.insert(source.tensor);
    }
  }

  void add_outputs() {
    for (const int output : fusion_.graph.outputs()) {
      const std::size_t box = add(last_row() + 1);
      boxes_[box].lines = {shortened(fusion_.graph.tensor(output).name)};
      boxes_[box].stored = {text_of(fusion_.graph.type(output))};
      for (const Source& source : fusion_.tensors[to_size(output)].sources)
        boxes_[box].read.insert(box_of_tensor_[to_size(source.tensor)]);
    }
  }

  void add_stored() {
    for (const int tensor : stored_) {
      if (fusion_.graph.tensor(tensor).maker != kNone)
        boxes_[box_of_tensor_[to_size(tensor)]].stored.push_back("stores " +
                                                                 text_of(fusion_.graph.type(tensor)));
    }
    for (Box& box : boxes_) shorten(box.stored);
  }

  // Equal neighbours become one line, and long lists end early.
  static void shorten(std::vector<std::string>& lines) {
    std::vector<std::string> shown;
    for (std::size_t first = 0, next = 0; first < lines.size(); first = next) {
      while (next < lines.size() && lines[next] == lines[first]) ++next;
      shown.push_back((next - first > 1 ? fmt::format("{} times ", next - first) : "") + lines[first]);
    }
    if (shown.size() > kMostLines) {
      const std::size_t left_out = shown.size() - kMostLines + 1;
      shown.resize(kMostLines - 1);
      shown.push_back(fmt::format("and {} more", left_out));
    }
    lines = std::move(shown);
  }

  // Rows from the top; within a row, boxes stand below those that they read.
  void place() {
    std::map<int, std::vector<Box*>> rows;
    for (Box& box : boxes_) rows[box.row].push_back(&box);
    std::size_t most = 1;
    for (const auto& [row, boxes] : rows) most = std::max(most, boxes.size());
    const double middle = kLeft + (kBoxWidth + kBetweenBoxes) * static_cast<double>(most) / 2;
    double top = kBetweenBoxes;
    for (auto& [row, boxes] : rows) {
      std::ranges::stable_sort(boxes, {}, [&](const Box* box) { return mean_of_read(*box, middle); });
      double x = middle - (kBoxWidth + kBetweenBoxes) * static_cast<double>(boxes.size() - 1) / 2;
      double bottom = top;
      for (Box* box : boxes) {
        box->x = x;
        box->y = top;
        x += kBoxWidth + kBetweenBoxes;
        bottom = std::max(bottom, box->bottom());
      }
      tops_[row] = top;
      top = bottom + kBetweenWaves;
    }
  }

  double mean_of_read(const Box& box, double middle) const {
    double sum = 0;
    for (const std::size_t read : box.read) sum += boxes_[read].x;
    return box.read.empty() ? middle : sum / static_cast<double>(box.read.size());
  }

  static std::string arrow(const Box& from, const Box& to) {
    const double start = from.bottom(), end = to.y, bend = std::min(60.0, (end - start) / 2);
    return fmt::format(
        "<path d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" "
        "stroke=\"#56758f\" stroke-width=\"1.3\" marker-end=\"url(#arrow)\"/>\n",
        from.x, start, from.x, start + bend, to.x, end - bend, to.x, end);
  }

  std::string drawn(const Box& box) const {
    const bool is_end = box.row == 0 || box.row > last_row();
    const double left = box.x - kBoxWidth / 2;
    std::string svg = fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\" rx=\"{}\" fill=\"{}\" "
        "stroke=\"#56758f\"/>\n",
        left, box.y, kBoxWidth, box.height(), is_end ? 12 : 3,
        is_end        ? "#fff4dc"
        : box.is_grey ? "#e6e6e6"
                      : "#e8f1f8");
    double y = box.y + kInside + 11;
    const auto add_lines = [&](const std::vector<std::string>& lines, const char* colour) {
      for (const std::string& line : lines) {
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", left + kInside, y,
                           colour, escape_markup(line));
        y += kLineHeight;
      }
    };
    add_lines(box.lines, "#111");
    add_lines(box.stored, "#777");
    return svg;
  }

  const Fusion& fusion_;
  std::vector<Box> boxes_;
  int last_ = kNone;                        ///< node that was added
  std::vector<std::size_t> box_of_tensor_;  ///< by stored tensor
  std::set<int> stored_;                    ///< tensors that another box reads
  std::map<int, double> tops_;              ///< by row
};

}  // namespace

std::string drawing_of(const Fusion& fusion) {
  return Drawing(fusion).text();
}

}  // namespace sightline::nn
