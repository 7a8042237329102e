// Folds within points, and of maps.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "network/opencl/expression_source.hpp"
#include "network/opencl/task_writer.hpp"
#include "network/primitives/fold.hpp"

namespace sightline::nn {

std::string TaskWriter::folded_text(Fold fold, const std::string& a, const std::string& b) {
  if (fold == Fold::sum) return fmt::format("{} + {}", a, b);
  return fmt::format("{}({}, {})", fold == Fold::maximum ? "maximum" : "minimum", a, b);
}

void TaskWriter::add_point_fold(const TaskStep& one) {
  const Fold fold = std::get<Reduce>(one.step.node.primitive).fold;
  const auto count = static_cast<int>(one.terms[0].size());
  std::vector<std::int32_t> places;
  const int step = count > 1 ? one.terms[0][1] - one.terms[0][0] : 1;
  bool is_even = step == 1 && one.operands[0].kind == DeviceOperand::Kind::quads, is_linear = true;
  for (const std::vector<int>& terms : one.terms) {
    is_even = is_even && terms[0] % 4 == 0;
    for (int k = 0; k < count; ++k) {
      is_linear = is_linear && terms[static_cast<std::size_t>(k)] == terms[0] + k * step;
      places.push_back(terms[static_cast<std::size_t>(k)]);
    }
  }
  const std::string none = literal(initial<float>(fold));
  text_ += fmt::format(
      "UNROLL_NONE for (int i = item; i < {} << {}; i += GROUP) {{ const int p = i & {}, j = i >> {}, g = "
      "first + p; if (p >= count) continue; ",
      one.channels, tile_.shift, (1 << tile_.shift) - 1, tile_.shift);
  pixel();
  const std::string list = is_even && one.channels == 1 ? "" : table(places);
  if (is_even)
    text_ += one.channels == 1 ? fmt::format("const int from = {}; ", one.terms[0][0])
                               : fmt::format("const int from = tables[{} + j * {}]; ", list, count);
  text_ += fmt::format(
      "float4 l0 = {0}, l1 = l0, l2 = l0, l3 = l0;\nUNROLL_NONE for (int r = 0; r < {1}; r += 16) {{ ", none,
      count);
  std::string value;
  if (is_even) {
    value = quad(one.operands[0], "q");
  } else {
    value = "(float4)(";
    for (int i = 0; i < 4; ++i)
      value += (i == 0 ? "" : ", ") +
               channel(one.operands[0],
                       fmt::format("tables[{} + j * {} + min(k + {}, {})]", list, count, i, count - 1));
    value += ")";
  }
  for (int n = 0; n < 4; ++n) {
    text_ += fmt::format("{{ const int k = r + {}; if (k < {}) {{ ", 4 * n, count);
    if (is_even) text_ += "const int q = (from + k) >> 2; ";
    text_ += fmt::format("float4 t = {}; ", value);
    if (count % 4 != 0)
      text_ += fmt::format("t = choose(k + (int4)(0, 1, 2, 3) < {}, t, (float4){}); ", count, none);
    text_ += fmt::format("l{0} = {1}; }} }}\n", n, folded_text(fold, fmt::format("l{}", n), "t"));
  }
  text_ += "}\n";
  if (fold == Fold::sum) {
    text_ += "const float v = sum_of_lanes(l0, l1, l2, l3); ";
  } else {
    const std::string f = fold == Fold::maximum ? "maximum" : "minimum";
    text_ += fmt::format("const float v = {1}({0}({0}(l0, l1), {0}(l2, l3))); ", f,
                         fold == Fold::maximum ? "largest_of" : "least_of");
  }
  store_channel(one.step.outputs()[0], "v", "j");
  text_ += "}\nBARRIER\n";
}

void TaskWriter::add_map_fold(const TaskStep& one) {
  const Fold fold = std::get<Reduce>(one.step.node.primitive).fold;
  const LocalPlace& lanes = tile_.lanes.at(number_);
  const std::int64_t together = kFoldedChannels / 4;
  const std::string value = quad(one.operands[0], "q");
  const std::string points = argument(one.height * one.width);
  const std::uint64_t inverse = ((std::uint64_t{1} << 32) + to_size(one.width) - 1) / to_size(one.width);
  const std::string width = argument(one.width),
                    ratio = argument(static_cast<std::int32_t>(static_cast<std::uint32_t>(inverse)));
  for (std::int64_t from = 0; from < one.quads(); from += together) {
    const std::int64_t quads = std::min(together, one.quads() - from);
    text_ += fmt::format(
        "UNROLL_NONE for (int i = item; i < {0}; i += GROUP) {{ const int lane = i / {1}, q = {2} + i - "
        "lane * {1}, p = 0;\n"
        "float4 v = {3}; UNROLL_NONE for (int g = lane; g < {4}; g += 16) {{ PIXEL({5}, {6}) v = {7}; }}\n"
        "WRITE_LOCAL({8} + lane * {9} + 4 * (q - {2}), v); }}\nBARRIER\n",
        16 * quads, quads, from, literal(initial<float>(fold)), points, width, ratio,
        folded_text(fold, "v", value), lanes.at, lanes.pitch);
    text_ += fmt::format("FOR_QUADS({}, 0) if (p >= count) continue; ", quads);
    text_ += "float4 l[16]; UNROLL_NONE for (int i = 0; i < 16; ++i) ";
    text_ += fmt::format("l[i] = READ_LOCAL({} + i * {} + 4 * q);\n", lanes.at, lanes.pitch);
    text_ += fmt::format(
        "UNROLL_NONE for (int lanes = 8; lanes > 0; lanes /= 2) UNROLL_NONE for (int i = 0; i < lanes; "
        "++i) l[i] = {};\n",
        folded_text(fold, "l[i]", "l[i + lanes]"));
    text_ += fmt::format("{{ const int quad = q + {}; const float4 v = l[0]; {{ const int q = quad; ", from);
    finish(one);
    text_ += "} } }\nBARRIER\n";
  }
}

}  // namespace sightline::nn
