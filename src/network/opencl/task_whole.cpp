// Steps of whole tensors, by element.
#include <bit>

#include <fmt/format.h>

#include "network/opencl/task_writer.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

void TaskWriter::add_copy(const TaskStep& one) {
  std::vector<std::int32_t> places;
  for (const std::int64_t place : one.copied) places.push_back(static_cast<std::int32_t>(place));
  text_ += fmt::format(
      "UNROLL_NONE for (int p = item; p < count; p += GROUP) {{ const int g = first + p, from = tables[{} "
      "+ g]; "
      "((global int*)arena)[{} + g] = from < 0 ? as_int(weights[~from]) : ((global const "
      "int*)arena)[from]; }}\n",
      table(places), argument(one.target));
}

void TaskWriter::begin_elements() {
  text_ += "UNROLL_NONE for (int i = item; i < count; i += GROUP) { const int e = first + i;\n";
}

void TaskWriter::write_element(const TaskStep& one, const std::string& value) {
  text_ += fmt::format("arena[{} + e] = {}; }}\n", argument(start_of(one.step.outputs()[0])), value);
}

std::string TaskWriter::element(const DeviceOperand& operand, const std::string& to,
                                const std::string& number) {
  return fmt::format("{{ const int g = {}; {} = {}; }} ", number, to, channel(operand, "0"));
}

void TaskWriter::add_product_of_tensors(const TaskStep& one) {
  const GraphNode& node = one.step.node;
  const Shape &a = context_.graph.shape(node.inputs[0]), &shape = context_.graph.shape(node.outputs[0]);
  const std::int64_t depth = a.back(), columns = shape.back(), rows = shape[shape.size() - 2];
  begin_elements();
  text_ += fmt::format("const int row = e / {0}, column = e % {0}; float v = 0; ", columns);
  if (node.inputs.size() > 2) text_ += element(one.operands[2], "v", "e");
  text_ += fmt::format(
      "for (int k = 0; k < {}; ++k) {{ float a, b; {} {} v = fma(a, b, v); }}\n", depth,
      element(one.operands[0], "a", fmt::format("row * {} + k", depth)),
      element(one.operands[1], "b", fmt::format("(row / {} * {} + k) * {} + column", rows, depth, columns)));
  write_element(one, "v");
}

void TaskWriter::add_grid_sample(const TaskStep& one) {
  const GraphNode& node = one.step.node;
  const auto& how = std::get<GridSample>(node.primitive);
  const Shape &x = context_.graph.shape(node.inputs[0]), &grid = context_.graph.shape(node.inputs[1]);
  const std::int64_t places = grid[1] * grid[2];
  const std::string offset =
      fmt::format("sample_offset({{}}, {{}}, {}, {}, {})", x[2], x[3], how.border == Border::edge ? 1 : 0);
  const auto offset_of = [&](const std::string& row, const std::string& column) {
    return fmt::format(fmt::runtime(offset), row, column);
  };
  begin_elements();
  text_ +=
      fmt::format("const int plane = e / {0}, place = plane / {1} * {0} + e % {0}; float column, row, v;\n",
                  places, x[1]);
  text_ += element(one.operands[1], "column", "2 * place") + element(one.operands[1], "row", "2 * place + 1");
  text_ += fmt::format("\ncolumn = in_elements(column, {1}, {2}); row = in_elements(row, {0}, {2});\n", x[2],
                       x[3], how.aligned ? 1 : 0);
  const auto value = [&](const std::string& to, const std::string& at) {
    return fmt::format("float {0} = 0; {{ const int at = {1}; if (at >= 0) {2} }}\n", to, at,
                       element(one.operands[0], to, fmt::format("plane * {} + at", x[2] * x[3])));
  };
  if (how.nearest) {
    text_ += value("v0", offset_of("rint(row)", "rint(column)")) + "v = v0; ";
  } else {
    text_ += "const float top = floor(row), left = floor(column), down = row - top, right = column - left;\n";
    text_ += value("v0", offset_of("top", "left")) + value("v1", offset_of("top", "left + 1")) +
             value("v2", offset_of("top + 1", "left")) + value("v3", offset_of("top + 1", "left + 1"));
    text_ +=
        "v = (1 - down) * (1 - right) * v0; v = fma((1 - down) * right, v1, v);\n"
        "v = fma(down * (1 - right), v2, v); v = fma(down * right, v3, v); ";
  }
  write_element(one, "v");
}

void TaskWriter::add_gather(const TaskStep& one) {
  const GraphNode& node = one.step.node;
  const auto& gather = std::get<Gather>(node.primitive);
  const Shape &x = context_.graph.shape(node.inputs[0]), &indices = context_.graph.shape(node.inputs[1]);
  const std::int64_t side = x[gather.axis], inner = elements_between(x, gather.axis + 1, x.size());
  begin_elements();
  std::string number, from;
  if (gather.by == By::index) {
    number = fmt::format("e / {} % {}", inner, elements_of(indices));
    from = fmt::format("(e / {} * {} + at) * {} + e % {}", inner * elements_of(indices), side, inner, inner);
  } else {
    number = "e";
    from = fmt::format("at * {}", inner);
    for (std::size_t axis = 0; axis < x.size(); ++axis) {
      if (axis != gather.axis)
        from += fmt::format(" + e / {} % {} * {}", elements_between(indices, axis + 1, x.size()),
                            indices[axis], elements_between(x, axis + 1, x.size()));
    }
  }
  words_ = 2;
  std::string index = element(one.operands[1], "at", number);
  words_ = 1;
  for (std::size_t found = 0; (found = index.find("arena[", found)) != std::string::npos; found += 27)
    index.replace(found, 6, "((global const long*)arena)[");
  text_ += fmt::format("int at; {} at = at < 0 ? at + {} : at; float v;\n{}\n", index, side,
                       element(one.operands[0], "v", from));
  write_element(one, "v");
}

void TaskWriter::add_top_k(const TaskStep& one) {
  const GraphNode& node = one.step.node;
  const auto& top = std::get<TopK>(node.primitive);
  const Shape& x = context_.graph.shape(node.inputs[0]);
  const std::int64_t side = x[top.axis], inner = elements_between(x, top.axis + 1, x.size());
  begin_elements();
  text_ += fmt::format("const int part = e / {0} * {0} + e % {1}, own = e / {1} % {2}; float v; {3}\n",
                       side * inner, inner, side, element(one.operands[0], "v", "e"));
  text_ += fmt::format(
      "int rank = 0; for (int j = 0; j < {}; ++j) {{ float other; {} rank += {}(other, v) || (j < own && "
      "!{}(v, other)); }}\n",
      side, element(one.operands[0], "other", fmt::format("part + j * {}", inner)),
      top.largest ? "is_before" : "is_behind", top.largest ? "is_before" : "is_behind");
  const std::string values = argument(start_of(node.outputs[0])),
                    places = argument(context_.stored[node.outputs[1]].offset / 8);
  text_ += fmt::format(
      "if (rank < {0}) {{ const int to = (e / {1} * {0} + rank) * {2} + e % {2}; arena[{3} + to] = v; "
      "((global "
      "long*)arena)[{4} + to] = own; }} }}\n",
      top.count, side * inner, inner, values, places);
}

void TaskWriter::add_top_k_of_many(const TaskStep& one) {
  const GraphNode& node = one.step.node;
  const auto& top = std::get<TopK>(node.primitive);
  const std::int64_t side = context_.graph.shape(node.inputs[0])[top.axis];
  const LocalPlace& counts = tile_.lanes.at(number_);
  const std::string order = top.largest ? "order_of" : "~order_of";
  text_ += fmt::format("const int row = first / {0} * {0}; local int* counts = (local int*)tile + {1};\n",
                       side, counts.at);
  for (int n = 0; n < kRankedTogether; ++n)
    text_ += fmt::format("int r{0} = 0, t{0}; {{ float v; {1} t{0} = {2}(v); }}\n", n,
                         element(one.operands[0], "v", fmt::format("first + min({}, count - 1)", n)), order);
  text_ += fmt::format(
      "UNROLL_TAPS for (int j = item; j < {}; j += GROUP) {{ float v; {} const int t = {}(v), behind = row + "
      "j - "
      "first; ",
      side, element(one.operands[0], "v", "row + j"), order);
  for (int n = 0; n < kRankedTogether; ++n) text_ += fmt::format("r{0} += t >= t{0} + (behind >= {0}); ", n);
  text_ += "}\n";
  for (int n = 0; n < kRankedTogether; ++n) text_ += fmt::format("counts[{} * GROUP + item] = r{}; ", n, n);
  text_ += fmt::format(
      "BARRIER\nUNROLL_NONE for (int lanes = GROUP / 2; lanes > 0; lanes /= 2) {{ UNROLL_NONE for (int i = "
      "item; i < "
      "lanes * {}; i += GROUP) {{ const int at = i / lanes * GROUP + i % lanes; counts[at] += counts[at + "
      "lanes]; "
      "}} BARRIER }}\n",
      kRankedTogether);
  text_ += fmt::format(
      "UNROLL_NONE for (int p = item; p < count; p += GROUP) {{ const int rank = counts[p * GROUP]; if (rank "
      "< {0}) "
      "{{ float v; {1} const int to = first / {2} * {0} + rank; arena[{3} + to] = v; ((global "
      "long*)arena)[{4} + to] = first + p - row; }} }}\nBARRIER\n",
      top.count, element(one.operands[0], "v", "first + p"), side, argument(start_of(node.outputs[0])),
      argument(context_.stored[node.outputs[1]].offset / 8));
}

}  // namespace sightline::nn
