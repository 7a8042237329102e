#include "network/opencl/task_source.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "network/opencl/expression_source.hpp"
#include "network/primitives/fold.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

class TaskWriter {
 public:
  TaskWriter(const SourceContext& context, const Task& task, const TaskTile& tile)
      : context_(context), task_(task), tile_(tile) {}

  TaskSource write() {
    const std::int64_t points = std::int64_t{1} << tile_.shift;
    made_.groups = static_cast<int>((task_.points + points - 1) / points * tile_.parts);
    made_.local_floats = tile_.local_floats;
    std::string steps;
    const auto first_weight = static_cast<std::int64_t>(context_.weights.size());
    for (number_ = 0; number_ < task_.steps.size(); ++number_) {
      text_.clear();
      add_step(task_.steps[number_]);
      steps += text_;
    }
    text_ = fmt::format("const int part = own % {0}; TILE(own / {0}, {1}, {2})\n", tile_.parts, tile_.shift,
                        argument(task_.points));
    read_ahead(first_weight);
    made_.text = text_ + steps;
    return std::move(made_);
  }

 private:
  // --- arguments and data

  std::string argument(std::int64_t value) {
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
      throw Problem("needs more memory than a device's kernels can index");
    made_.arguments.push_back(static_cast<std::int32_t>(value));
    return fmt::format("a{}", made_.arguments.size() - 1);
  }

  // Places of added floats and numbers; quads are aligned.
  std::int64_t add_weights(const std::vector<float>& values) {
    std::vector<float>& all = context_.weights;
    all.resize((all.size() + 15) / 16 * 16, 0.0F);
    const auto first = static_cast<std::int64_t>(all.size());
    all.insert(all.end(), values.begin(), values.end());
    return first;
  }
  std::string table(const std::vector<std::int32_t>& numbers) {
    std::vector<std::int32_t>& all = context_.tables;
    all.resize((all.size() + 3) / 4 * 4, 0);
    const auto first = static_cast<std::int64_t>(all.size());
    all.insert(all.end(), numbers.begin(), numbers.end());
    return argument(first);
  }

  void read_ahead(std::int64_t first) {
    constexpr std::int64_t kMostAhead = 40 << 10;  // floats
    if (tile_.parts == 1) {
      const std::int64_t count = static_cast<std::int64_t>(context_.weights.size()) - first;
      if (count >= 256 && count <= kMostAhead)
        text_ += fmt::format("READ_AHEAD({}, {}, 1, 0)\n", argument(first), argument(count));
      return;
    }
    const TaskStep& last = task_.steps.back();
    const std::int64_t rows = last.taps() * last.columns(), row = last.lanes() / tile_.parts;
    if (rows * row <= kMostAhead)
      text_ += fmt::format("READ_AHEAD({} + part * {}, {}, {}, {})\n", argument(last_product_), row, row,
                           rows, last.lanes());
  }

  std::int64_t start_of(int tensor) const { return context_.stored[tensor].offset / (4 * words_); }
  const LocalPlace* local(int tensor) const {
    const auto found = tile_.tensors.find(tensor);
    return found == tile_.tensors.end() ? nullptr : &found->second;
  }

  // --- reading

  std::string text_of_points(const PointForm& form) {
    switch (form.kind) {
      case PointForm::Kind::none:
        break;
      case PointForm::Kind::own:
        if (form.step == 1) return " + g";
        return form.step == kLanes ? " + 16 * g" : fmt::format(" + {} * g", argument(form.step));
      case PointForm::Kind::pixels:
        return form.shift == 0
                   ? fmt::format(" + {} * y + {} * x", argument(form.row_step), argument(form.step))
                   : fmt::format(" + {0} * (y >> {2}) + {1} * (x >> {2})", argument(form.row_step),
                                 argument(form.step), form.shift);
      case PointForm::Kind::factored: {
        std::string all;
        for (const PointForm::Part& one : form.factors) {
          if (one.step == 0) continue;
          const bool is_last = &one == &form.factors.back();
          const std::string outer = one.inner == 1 ? "g" : fmt::format("g / {}", one.inner);
          all += fmt::format(" + {} * ({})", argument(one.step),
                             is_last ? outer : fmt::format("{} % {}", outer, one.size));
        }
        return all;
      }
      case PointForm::Kind::listed:
        return fmt::format(" + tables[{} + g]", table(form.list));
    }
    return "";
  }

  // Chooses a run by a variable below its end.
  static std::string choice(const DeviceOperand& operand, const std::string& variable, std::int64_t divisor,
                            const std::function<std::string(const ChannelRun&)>& text) {
    std::string all;
    for (std::size_t r = 0; r < operand.runs.size(); ++r) {
      const ChannelRun& run = operand.runs[r];
      const bool is_last = r + 1 == operand.runs.size();
      all += is_last ? text(run) : fmt::format("{} < {} ? {} : ", variable, run.end / divisor, text(run));
    }
    return "(" + all + ")";
  }

  std::string quad_of_run(const ChannelRun& run, const std::string& q) {
    const std::int64_t shift = run.lane / 4 - run.begin / 4;
    if (const LocalPlace* const place = local(run.tensor))
      return fmt::format("READ_LOCAL({} + p * {} + 4 * {})", place->at + run.number - run.begin, place->pitch,
                         q);
    const std::string base = argument(start_of(run.tensor) + run.base);
    const std::string points = text_of_points(run.points);
    if (run.block_step == 0)
      return fmt::format("READ(arena, {} + 4 * ({} - {}){})", base, q, run.begin / 4, points);
    return fmt::format("READ(arena, {} + IN_BLOCKS({} + {}, {}){})", base, q, shift, argument(run.block_step),
                       points);
  }

  std::string channel_of_run(const ChannelRun& run, const std::string& c) {
    if (const LocalPlace* const place = local(run.tensor))
      return run.step == 0
                 ? fmt::format("tile[{} + p * {}]", place->at + run.number, place->pitch)
                 : fmt::format("tile[{} + p * {} + {}]", place->at + run.number - run.begin, place->pitch, c);
    const std::string base = argument(start_of(run.tensor) + run.base);
    const std::string points = text_of_points(run.points);
    if (run.step == 0) return fmt::format("arena[{}{}]", base, points);
    if (run.block_step == 0)
      return fmt::format("arena[{} + ({} - {}) * {}{}]", base, c, run.begin, argument(run.step), points);
    return fmt::format("arena[{} + CHANNEL_IN_BLOCKS({} + {}, {}){}]", base, c, run.lane - run.begin,
                       argument(run.block_step), points);
  }

  // A place and a step by channel; steps of local memory are negative.
  std::string listed(const DeviceOperand& operand, const std::string& c) {
    const PointForm& form = operand.runs[0].points;
    const bool is_one = form.kind != PointForm::Kind::none && form.kind != PointForm::Kind::own;
    std::vector<std::int32_t> places;
    for (const ChannelRun& run : operand.runs) {
      const LocalPlace* const place = local(run.tensor);
      for (std::int64_t i = 0; i < run.end - run.begin; ++i) {
        const std::int64_t lane = run.lane + i;
        const std::int64_t from = run.block_step > 0
                                      ? run.base + lane / kLanes * run.block_step + lane % kLanes
                                      : run.base + i * run.step;
        places.push_back(static_cast<std::int32_t>(
            place ? place->at + run.number + i * (run.step == 0 ? 0 : 1) : start_of(run.tensor) + from));
        if (!is_one) places.push_back(static_cast<std::int32_t>(place ? -place->pitch : run.points.step));
      }
    }
    const std::string list = table(places);
    if (is_one) return fmt::format("arena[tables[{} + {}]{}]", list, c, text_of_points(form));
    return fmt::format("LISTED({}, {})", list, c);
  }

  std::string elements(const DeviceOperand& operand, const std::string& c) {
    std::vector<std::int32_t> places;
    for (const Operand::Channel& one : operand.elements)
      places.push_back(
          static_cast<std::int32_t>(start_of(operand.tensors[to_size(one.source)]) + one.offset));
    return fmt::format("arena[tables[{} + g * {} + {}]]", table(places), operand.count, c);
  }

  std::string constant(const DeviceOperand& operand, const std::string& q, bool is_quad) {
    if (!operand.by_point && !operand.by_channel) return literal(operand.values[0]);
    const std::int64_t channels = operand.by_channel ? operand.count : 1,
                       pitch = operand.by_channel ? (channels + kLanes - 1) / kLanes * kLanes : 1;
    std::vector<float> values;
    for (std::size_t i = 0; i < operand.values.size(); ++i) {
      values.push_back(operand.values[i]);
      if ((i + 1) % to_size(channels) == 0) values.resize(values.size() + to_size(pitch - channels), 0.0F);
    }
    std::string place = argument(add_weights(values));
    if (operand.by_point) place += operand.by_channel ? fmt::format(" + g * {}", pitch) : " + g";
    if (!operand.by_channel) return fmt::format("weights[{}]", place);
    return is_quad ? fmt::format("READ(weights, {} + 4 * {})", place, q)
                   : fmt::format("weights[{} + {}]", place, q);
  }

  std::string channel(const DeviceOperand& operand, const std::string& c) {
    switch (operand.kind) {
      case DeviceOperand::Kind::constant:
        return constant(operand, c, false);
      case DeviceOperand::Kind::listed:
        return listed(operand, c);
      case DeviceOperand::Kind::elements:
        return elements(operand, c);
      default:
        return choice(operand, c, 1, [&](const ChannelRun& run) { return channel_of_run(run, c); });
    }
  }

  // Four channels of a point; those behind the last one are any.
  std::string quad(const DeviceOperand& operand, const std::string& q) {
    if (operand.kind == DeviceOperand::Kind::constant)
      return operand.by_channel ? constant(operand, q, true) : "(float4)(" + constant(operand, q, true) + ")";
    if (operand.kind == DeviceOperand::Kind::quads)
      return choice(operand, q, 4, [&](const ChannelRun& run) { return quad_of_run(run, q); });
    if (operand.runs.size() == 1 && operand.runs[0].step == 0 &&
        operand.kind == DeviceOperand::Kind::channels)
      return "(float4)(" + channel(operand, q) + ")";
    // One text for four channels keeps arguments few.
    const std::string one = channel(operand, "CHANNEL_");
    std::string all;
    for (int i = 0; i < 4; ++i) {
      std::string c = operand.count % 4 == 0 ? fmt::format("(4 * {} + {})", q, i)
                                             : fmt::format("min(4 * {} + {}, {})", q, i, operand.count - 1);
      std::string of = one;
      for (std::size_t found = 0; (found = of.find("CHANNEL_", found)) != std::string::npos;) {
        if (of.compare(found, 11, "CHANNEL_IN_") == 0) {
          found += 11;
          continue;
        }
        of.replace(found, 8, c);
      }
      all += (i == 0 ? "" : ", ") + of;
    }
    return "(float4)(" + all + ")";
  }
  // The same with 0 behind the last one.
  std::string filled_quad(const DeviceOperand& operand, const std::string& q) {
    const std::string value = quad(operand, q);
    return operand.count % 4 == 0 ? value : fmt::format("without_rest({}, {}, {})", value, q, operand.count);
  }

  // --- writing

  void store(int tensor, const std::string& value, std::int64_t channels) {
    if (const LocalPlace* const place = local(tensor))
      text_ += fmt::format("WRITE_LOCAL({} + p * {} + 4 * q, {}); ", place->at, place->pitch, value);
    if (context_.has_blocks[to_size(tensor)])
      text_ += fmt::format("WRITE({} + IN_BLOCKS(q, {}) + 16 * g, {}); ", argument(start_of(tensor)),
                           argument(context_.stored[tensor].block_step), value);
    for (const OutputPlace& place : context_.outputs[to_size(tensor)]) {
      const std::string to = place_in(place, "CHANNEL_");
      for (int i = 0; i < 4; ++i) {
        std::string own = to;
        own.replace(own.find("CHANNEL_"), 8, fmt::format("(4 * q + {})", i));
        if (channels % 4 != 0) text_ += fmt::format("if (4 * q + {} < {}) ", i, channels);
        text_ += fmt::format("arena[{}] = {}.s{}; ", own, value, i);
      }
    }
  }
  std::string place_in(const OutputPlace& place, const std::string& c) {
    const std::string base = argument(place.base), points = text_of_points(place.points);
    if (!place.channels.empty())
      return fmt::format("{} + tables[{} + {}]{}", base, table(place.channels), c, points);
    return place.channel_step == 1
               ? fmt::format("{} + {}{}", base, c, points)
               : fmt::format("{} + {} * {}{}", base, argument(place.channel_step), c, points);
  }
  void store_channel(int tensor, const std::string& value, const std::string& c) {
    if (const LocalPlace* const place = local(tensor))
      text_ += fmt::format("tile[{} + p * {} + {}] = {}; ", place->at, place->pitch, c, value);
    if (context_.has_blocks[to_size(tensor)])
      text_ +=
          fmt::format("arena[{} + CHANNEL_IN_BLOCKS({}, {}) + 16 * g] = {}; ", argument(start_of(tensor)), c,
                      argument(context_.stored[tensor].block_step), value);
    for (const OutputPlace& place : context_.outputs[to_size(tensor)])
      text_ += fmt::format("arena[{}] = {}; ", place_in(place, c), value);
  }

  // Computes the step's Map of a float4 `v`, and stores the results.
  void finish(const TaskStep& one) {
    if (!one.step.finish) return store(one.step.outputs()[0], "v", one.channels);
    write_map(one, *one.step.finish, one.finish_operands);
  }
  void write_map(const TaskStep& one, const GraphNode& map, const std::vector<DeviceOperand>& operands) {
    std::vector<std::string> texts;
    for (const DeviceOperand& operand : operands)
      texts.push_back(operand.count == 0 ? "v" : quad(operand, "q"));
    const ExpressionText text = text_for(std::get<Map>(map.primitive).expression, texts);
    text_ += text.statements + "\n";
    for (std::size_t i = 0; i < map.outputs.size(); ++i) store(map.outputs[i], text.results[i], one.channels);
  }

  // --- steps

  void pixel() {
    if (task_.width == 0) return;
    const std::uint64_t inverse =
        ((std::uint64_t{1} << 32) + to_size(task_.width) - 1) / to_size(task_.width);
    text_ += fmt::format("PIXEL({}, {}) ", argument(task_.width),
                         argument(static_cast<std::int32_t>(static_cast<std::uint32_t>(inverse))));
  }
  void begin_quads(const TaskStep& one) {
    text_ += fmt::format("FOR_QUADS({}, {}) if (p >= count) continue; ", one.quads(), tile_.shift);
    pixel();
  }
  void end_quads() { text_ += "}\nBARRIER\n"; }

  void add_step(const TaskStep& one) {
    switch (one.kind) {
      case StepKind::map:
        begin_quads(one);
        write_map(one, one.step.node, one.operands);
        return end_quads();
      case StepKind::product:
        return add_product(one);
      case StepKind::depthwise:
        return add_depthwise(one);
      case StepKind::grouped:
        return add_grouped(one);
      case StepKind::window_fold:
        return add_window_fold(one);
      case StepKind::resample:
        return add_resample(one);
      case StepKind::point_fold:
        return add_point_fold(one);
      case StepKind::map_fold:
        return add_map_fold(one);
      case StepKind::copy:
        return add_copy(one);
      case StepKind::product_of_tensors:
        return add_product_of_tensors(one);
      case StepKind::grid_sample:
        return add_grid_sample(one);
      case StepKind::gather:
        return add_gather(one);
      case StepKind::top_k:
        return add_top_k(one);
    }
  }

  // --- windows

  // Declares row and column of a tap, from `ox` and `oy`.
  static std::string tap(const TaskStep& one, const std::string& row, const std::string& column) {
    const Window& w = one.window;
    return fmt::format("const int y = oy * {} + {} * {} - {}, x = ox * {} + {} * {} - {}; ", w.step[0], row,
                       w.tap_step[0], w.before[0], w.step[1], column, w.tap_step[1], w.before[1]);
  }
  // What of an operand lies at (x, y), which may be outside.
  std::string inside(const TaskStep& one, const std::string& value, const std::string& outside,
                     const std::string& to) {
    const std::string width = argument(one.width), height = argument(one.height);
    return fmt::format("{} = {}; if (INSIDE(y, x, {}, {})) {{ const int g = y * {} + x; {} = {}; }} ", to,
                       outside, height, width, width, to, value);
  }

  // [taps * columns][lanes], where columns of a tap are a multiple of four.
  std::int64_t product_weights(const TaskStep& one) {
    const GraphNode& node = one.step.node;
    const Tensor& weights = *context_.graph.constant(node.inputs[1]);
    const auto values = weights.as<float>();
    const std::int64_t depth = one.operands[0].count, lanes = one.lanes(), taps = one.taps();
    const bool is_product = std::holds_alternative<Product>(node.primitive);
    // Zeros behind the last column are -0: adding 0 * -0 changes no sum.
    std::vector<float> placed(to_size(taps * one.columns() * lanes), -0.0F);
    for (std::int64_t t = 0; t < taps; ++t) {
      for (std::int64_t k = 0; k < depth; ++k) {
        for (std::int64_t o = 0; o < one.channels; ++o)
          placed[to_size((t * one.columns() + k) * lanes + o)] =
              values[to_size(is_product ? k * one.channels + o : (o * depth + k) * taps + t)];
      }
    }
    return add_weights(placed);
  }
  std::string start(const TaskStep& one) {
    const std::vector<int>& inputs = one.step.node.inputs;
    std::vector<float> values(to_size(one.lanes()), 0.0F);
    if (inputs.size() > 2) {
      const auto from = context_.graph.constant(inputs[2])->as<float>();
      for (std::int64_t c = 0; c < one.channels; ++c)
        values[to_size(c)] = from[to_size(one.weight_rows.empty() ? c : one.weight_rows[to_size(c)])];
    }
    return argument(add_weights(values));
  }

  void add_product(const TaskStep& one) {
    const ProductTile& product = tile_.products.at(number_);
    const auto lanes = static_cast<int>(one.lanes());
    last_product_ = product_weights(one);
    const std::string weights = argument(last_product_), begin = start(one);
    const int outputs = tile_.parts > 1 && number_ + 1 == task_.steps.size() ? lanes / tile_.parts : lanes;
    for (int first = 0; first < outputs; first += product.pass) {
      const int pass = std::min(product.pass, outputs - first);
      begin_sums(product, first, pass, outputs, begin);
      add_chunks(one, product, weights, first == 0);
      finish_sums(one, product, pass);
    }
  }

  // Adds all columns to the sums. A chunk that is staged at once is some taps, or some columns of a tap.
  void add_chunks(const TaskStep& one, const ProductTile& product, const std::string& weights,
                  bool is_first) {
    const int columns = one.columns(), taps = one.taps(), lanes = static_cast<int>(one.lanes());
    const Chunk whole{"0", std::to_string(taps), "0", std::to_string(columns)};
    if (product.is_direct || product.staged >= taps * columns) {
      if (!product.is_direct && is_first) stage(one, product, whole);
      return add_columns(product, weights, "0", std::to_string(taps * columns), lanes);
    }
    const auto sized = [](const std::string& from, int step, int all) {
      return all % step == 0 ? std::to_string(step) : fmt::format("min({}, {} - {})", step, all, from);
    };
    if (columns <= product.staged) {
      const int together = product.staged / columns;
      const Chunk some{"tap", sized("tap", together, taps), "0", std::to_string(columns)};
      text_ += fmt::format("UNROLL_NONE for (int tap = 0; tap < {}; tap += {}) {{\n", taps, together);
      stage(one, product, some);
      add_columns(product, weights, fmt::format("tap * {}", columns),
                  fmt::format("{} * {}", some.taps, columns), lanes);
      text_ += "BARRIER\n}\n";
      return;
    }
    const Chunk part{"tap", "1", "from", sized("from", product.staged, columns)};
    text_ += fmt::format(
        "UNROLL_NONE for (int tap = 0; tap < {}; ++tap) UNROLL_NONE for (int from = 0; from < {}; from += "
        "{}) {{\n",
        taps, columns, product.staged);
    stage(one, product, part);
    add_columns(product, weights, fmt::format("(tap * {} + from)", columns), part.columns, lanes);
    text_ += "BARRIER\n}\n";
  }

  // Sums of a work-item: of some outputs of some points.
  static std::string type_of_sums(const ProductTile& product) {
    return product.outputs == 1 ? "float" : fmt::format("float{}", product.outputs);
  }
  void begin_sums(const ProductTile& product, int first, int pass, int outputs, const std::string& begin) {
    text_ +=
        fmt::format("{{ PART({}, {}, {}) const int first_c = {} + part * {}, c = first_c + {} * column; ",
                    product.points, pass / product.outputs, tile_.shift, first, outputs, product.outputs);
    text_ += fmt::format("{0} s[{1}]; s[0] = works ? *(global const {0}*)(weights + {2} + c) : 0; ",
                         type_of_sums(product), product.points, begin);
    for (int i = 1; i < product.points; ++i) text_ += fmt::format("s[{}] = s[0]; ", i);
    text_ += "\n";
  }
  void add_columns(const ProductTile& product, const std::string& weights, const std::string& first,
                   const std::string& depth, int lanes) {
    text_ += fmt::format(
        "if (works) multiply_{0}_{1}(tile + {2} + begin * {3}, apart * {3}, {4}, weights + {5} + {6} * {7} + "
        "c, {7}, s);\n",
        product.points, product.outputs, product.columns.at, product.columns.pitch, depth, weights, first,
        lanes);
  }
  void finish_sums(const TaskStep& one, const ProductTile& product, int pass) {
    const std::string inside = one.quads() * 4 < one.lanes() ? fmt::format("q < {}", one.quads()) : "";
    if (product.outputs < 4) {
      text_ += "if (works) { ";
      for (int i = 0; i < product.points; ++i)
        text_ +=
            fmt::format("*(local {}*)(tile + {} + (begin + {} * apart) * {} + {} * column) = s[{}]; ",
                        type_of_sums(product), product.sums.at, i, product.sums.pitch, product.outputs, i);
      text_ += fmt::format(
          "}}\nBARRIER\n"
          "FOR_QUADS({2}, {3}) if (p >= count) continue; const float4 v = READ_LOCAL({0} + p * {1} + 4 * q); "
          "const int quad = (first_c >> 2) + q; {{ const int q = quad; ",
          product.sums.at, product.sums.pitch, pass / 4, tile_.shift);
      if (!inside.empty()) text_ += fmt::format("if ({}) ", inside);
      text_ += "{ ";
      pixel();
      finish(one);
      text_ += "} } } }\nBARRIER\n";
      return;
    }
    text_ += fmt::format(
        "const int q = c >> 2; if (works{}) {{ UNROLL_ALL for (int j = 0; j < {}; ++j) {{ const int p = "
        "begin "
        "+ j * apart, g = first + p; if (p < count) {{ const float4 v = s[j]; ",
        inside.empty() ? "" : " && " + inside, product.points);
    pixel();
    finish(one);
    text_ += "} } } }\nBARRIER\n";
  }

  // What of a product's columns is staged at once, as text.
  struct Chunk {
    std::string first_tap, taps, first_column, columns;
  };
  // Columns of some taps, or some columns of one, to local memory.
  void stage(const TaskStep& one, const ProductTile& product, const Chunk& chunk) {
    const DeviceOperand& x = one.operands[0];
    const bool is_quads = x.kind == DeviceOperand::Kind::quads;
    text_ += fmt::format("{}({} / 4, {}) ",
                         !is_quads            ? "FOR_POINTS"
                         : one.is_pointwise() ? "FOR_STAGED"
                                              : "FOR_QUADS",
                         chunk.columns, tile_.shift);
    const std::string q = chunk.first_column == "0" ? "q" : fmt::format("(q + {} / 4)", chunk.first_column);
    const std::string to =
        fmt::format("tile + {} + p * {} + 4 * q", product.columns.at, product.columns.pitch);
    if (one.is_pointwise()) {
      pixel();
      text_ += fmt::format("float4 v = 0; if (p < count) v = {}; *(local float4*)({}) = v; }}\nBARRIER\n",
                           filled_quad(x, q), to);
      return;
    }
    text_ += fmt::format("local float* to = {}; ", to);
    pixel();
    text_ += fmt::format("const int ox = x, oy = y; int row = {0} / {1}, column = {0} % {1};\n",
                         chunk.first_tap, one.window.kernel[1]);
    text_ += fmt::format("UNROLL_TAPS for (int t = 0; t < {}; ++t, to += {}) {{ {} float4 ", chunk.taps,
                         chunk.columns, tap(one, "row", "column"));
    std::string value = inside(one, filled_quad(x, q), "0", "v");
    const std::string condition = "if (INSIDE";
    value.replace(value.find(condition), condition.size(), "if (p < count && INSIDE");
    text_ +=
        value + fmt::format("*(local float4*)to = v; if (++column == {}) column = 0, ++row; }} }}\nBARRIER\n",
                            one.window.kernel[1]);
  }

  // Weights of outputs [ceil(channels / 16)][rows][16].
  std::string blocked_weights(const TaskStep& one, std::int64_t rows,
                              const std::function<float(std::int64_t channel, std::int64_t row)>& value) {
    std::vector<float> placed(to_size(one.lanes() * rows), 0.0F);
    for (std::int64_t c = 0; c < one.channels; ++c) {
      for (std::int64_t r = 0; r < rows; ++r)
        placed[to_size((c / kLanes * rows + r) * kLanes + c % kLanes)] = value(c, r);
    }
    return argument(add_weights(placed));
  }

  void add_depthwise(const TaskStep& one) {
    const auto values = context_.graph.constant(one.step.node.inputs[1])->as<float>();
    const std::int64_t taps = one.taps();
    const std::string weights = blocked_weights(
        one, taps, [&](std::int64_t c, std::int64_t t) { return values[to_size(c * taps + t)]; });
    const std::string begin = start(one);
    begin_quads(one);
    text_ += "const int ox = x, oy = y; ";
    const std::string x = inside(one, quad(one.operands[0], "q"), "0", "x0");
    const std::string weight =
        fmt::format("READ(weights, {} + (q >> 2) * {} + 4 * (q & 3) + 16 * ", weights, taps * kLanes);
    constexpr std::int64_t kAtOnce = 9;  // taps whose loads are all under way before the first sum
    text_ += fmt::format("float4 v = READ(weights, {} + 4 * q);\n", begin);
    if (taps <= kAtOnce) {
      for (std::int64_t t = 0; t < taps; ++t) {
        std::string own = x;
        for (std::size_t found = 0; (found = own.find("x0", found)) != std::string::npos;)
          own.replace(found, 2, fmt::format("t{}", t));
        text_ += fmt::format(
            "float4 t{}; {{ {} {} }}\n", t,
            tap(one, std::to_string(t / one.window.kernel[1]), std::to_string(t % one.window.kernel[1])),
            own);
      }
      for (std::int64_t t = 0; t < taps; ++t) text_ += fmt::format("v = fma(t{}, {}{}), v); ", t, weight, t);
    } else {
      text_ += fmt::format(
          "UNROLL_NONE for (int t = 0; t < {}; ++t) {{ {} float4 {} v = fma(x0, {}t), v); }}\n", taps,
          tap(one, fmt::format("(t / {})", one.window.kernel[1]),
              fmt::format("(t % {})", one.window.kernel[1])),
          x, weight);
    }
    finish(one);
    end_quads();
  }

  // Sums of channels of their own for each output. Convolutions of a map have them by groups.
  void add_grouped(const TaskStep& one) {
    const GraphNode& node = one.step.node;
    const Tensor& tensor = *context_.graph.constant(node.inputs[1]);
    const auto values = tensor.as<float>();
    const bool is_product = std::holds_alternative<Product>(node.primitive);
    const std::int64_t taps = one.taps(), outputs = tensor.shape().back(),
                       depth = is_product ? tensor.dim(tensor.rank() - 2) : tensor.dim(1);
    const std::string weights = blocked_weights(one, taps * depth, [&](std::int64_t c, std::int64_t row) {
      const std::int64_t o = one.weight_rows.empty() ? c : one.weight_rows[to_size(c)];
      return values[to_size(is_product ? row * outputs + o : (o * depth + row % depth) * taps + row / depth)];
    });
    const std::string begin = start(one);
    std::string list;
    if (!one.terms.empty()) {
      std::vector<std::int32_t> places;
      for (const std::vector<int>& terms : one.terms) places.insert(places.end(), terms.begin(), terms.end());
      list = table(places);
    }
    const std::int64_t each = list.empty() ? one.channels / std::get<Convolve>(node.primitive).groups : 1;
    begin_quads(one);
    std::string value = "(float4)(";
    for (int i = 0; i < 4; ++i) {
      const std::string c = fmt::format("min(4 * q + {}, {})", i, one.channels - 1);
      text_ += fmt::format("const int c{} = {}; ", i,
                           list.empty() ? fmt::format("{} / {} * {}", c, each, depth)
                                        : fmt::format("{} + {} * {}", list, c, depth));
      value +=
          (i == 0 ? "" : ", ") + channel(one.operands[0], list.empty() ? fmt::format("(c{} + k)", i)
                                                                       : fmt::format("tables[c{} + k]", i));
    }
    value += ")";
    const std::string add =
        fmt::format("v = fma(x0, READ(weights, {} + (q >> 2) * {} + 4 * (q & 3) + 16 * (t * {} + k)), v);",
                    weights, taps * depth * kLanes, depth);
    text_ += fmt::format("float4 v = READ(weights, {} + 4 * q);\n", begin);
    if (!list.empty()) {
      text_ += fmt::format("UNROLL_NONE for (int t = 0, k = 0; k < {}; ++k) {{ const float4 x0 = {}; {} }}\n",
                           depth, value, add);
    } else {
      text_ += fmt::format(
          "const int ox = x, oy = y;\n"
          "UNROLL_NONE for (int t = 0; t < {}; ++t) {{ {} UNROLL_NONE for (int k = 0; k < {}; ++k) {{ float4 "
          "{} {} }} }}\n",
          taps,
          tap(one, fmt::format("(t / {})", one.window.kernel[1]),
              fmt::format("(t % {})", one.window.kernel[1])),
          depth, inside(one, value, "0", "x0"), add);
    }
    finish(one);
    end_quads();
  }

  void add_window_fold(const TaskStep& one) {
    const Fold fold = std::get<WindowFold>(one.step.node.primitive).fold;
    begin_quads(one);
    text_ += fmt::format("const int ox = x, oy = y; float4 v = {};\n", literal(initial<float>(fold)));
    if (fold != Fold::sum && meets_map(one.window, {one.height, one.width})) {
      // Places may be read twice, so that none is outside.
      const std::string height = argument(one.height), width = argument(one.width);
      text_ += places_of_window(one, 0, "y", height) + places_of_window(one, 1, "x", width);
      text_ += fmt::format("const int g = y * {} + x; v = {}; }} }}\n", width,
                           folded_text(fold, "v", quad(one.operands[0], "q")));
    } else {
      text_ += fmt::format(
          "UNROLL_NONE for (int row = 0; row < {}; ++row) UNROLL_ALL for (int column = 0; column < {}; "
          "++column) {{ {} float4 {} v = {}; }}\n",
          one.window.kernel[0], one.window.kernel[1], tap(one, "row", "column"),
          inside(one, quad(one.operands[0], "q"), literal(initial<float>(fold)), "x0"),
          folded_text(fold, "v", "x0"));
    }
    finish(one);
    end_quads();
  }
  // Whether each window has places side by side of which some lie in the map.
  static bool meets_map(const Window& w, const Pair& sides) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (w.tap_step[axis] != 1 || w.before[axis] >= w.kernel[axis] ||
          (w.out[axis] - 1) * w.step[axis] - w.before[axis] >= sides[axis])
        return false;
    }
    return true;
  }
  // Begins a loop over rows or columns of a window: few of them without branches.
  static std::string places_of_window(const TaskStep& one, std::size_t axis, const char* name,
                                      const std::string& side) {
    constexpr std::array<std::int64_t, 2> kFew{3, 5};
    const Window& w = one.window;
    const std::string first = fmt::format("o{} * {} - {}", name, w.step[axis], w.before[axis]);
    if (w.kernel[axis] <= kFew[axis])
      return fmt::format(
          "UNROLL_ALL for (int to_{0} = 0; to_{0} < {1}; ++to_{0}) {{ const int {0} = clamp({2} + to_{0}, 0, "
          "{3} - 1); ",
          name, w.kernel[axis], first, side);
    return fmt::format("{0} for (int {1} = max({2}, 0); {1} < min({2} + {3}, {4}); ++{1}) {{ ",
                       axis == 0 ? "UNROLL_NONE" : "UNROLL_TAPS", name, first, w.kernel[axis], side);
  }
  static std::string folded_text(Fold fold, const std::string& a, const std::string& b) {
    if (fold == Fold::sum) return fmt::format("{} + {}", a, b);
    return fmt::format("{}({}, {})", fold == Fold::maximum ? "maximum" : "minimum", a, b);
  }

  void add_resample(const TaskStep& one) {
    const auto& resample = std::get<Resample>(one.step.node.primitive);
    const auto list = [&](const Taps& taps) {
      std::vector<std::int32_t> numbers;
      for (std::size_t i = 0; i < taps.first.size(); ++i)
        numbers.insert(numbers.end(),
                       {taps.first[i], taps.second[i], std::bit_cast<std::int32_t>(taps.weight[i])});
      return table(numbers);
    };
    begin_quads(one);
    text_ += fmt::format("global const int *across = tables + {} + 3 * x, *down = tables + {} + 3 * y;\n",
                         list(resample.columns), list(resample.rows));
    const std::string value = quad(one.operands[0], "q"), width = argument(one.width);
    for (int i = 0; i < 4; ++i)
      text_ +=
          fmt::format("float4 r{}; {{ const int y = down[{}], x = across[{}], g = y * {} + x; r{} = {}; }}\n",
                      i, i / 2, i % 2, width, i, value);
    text_ +=
        "const float right = as_float(across[2]);\n"
        "const float4 v = mix_quads(mix_quads(r0, r1, right), mix_quads(r2, r3, right), "
        "as_float(down[2]));\n";
    finish(one);
    end_quads();
  }

  // --- folds

  void add_point_fold(const TaskStep& one) {
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
        "float4 l0 = {0}, l1 = l0, l2 = l0, l3 = l0;\nUNROLL_NONE for (int r = 0; r < {1}; r += 16) {{ ",
        none, count);
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

  void add_map_fold(const TaskStep& one) {
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
      text_ +=
          fmt::format("{{ const int quad = q + {}; const float4 v = l[0]; {{ const int q = quad; ", from);
      finish(one);
      text_ += "} } }\nBARRIER\n";
    }
  }

  void add_copy(const TaskStep& one) {
    std::vector<std::int32_t> places;
    for (const std::int64_t place : one.copied) places.push_back(static_cast<std::int32_t>(place));
    text_ += fmt::format(
        "UNROLL_NONE for (int p = item; p < count; p += GROUP) {{ const int g = first + p, from = tables[{} "
        "+ g]; "
        "((global int*)arena)[{} + g] = from < 0 ? as_int(weights[~from]) : ((global const "
        "int*)arena)[from]; }}\n",
        table(places), argument(one.target));
  }

  // --- whole tensors

  void begin_elements() {
    text_ += "UNROLL_NONE for (int i = item; i < count; i += GROUP) { const int e = first + i;\n";
  }
  void write_element(const TaskStep& one, const std::string& value) {
    text_ += fmt::format("arena[{} + e] = {}; }}\n", argument(start_of(one.step.outputs()[0])), value);
  }
  // Sets a variable to an element by its number.
  std::string element(const DeviceOperand& operand, const std::string& to, const std::string& number) {
    return fmt::format("{{ const int g = {}; {} = {}; }} ", number, to, channel(operand, "0"));
  }

  void add_product_of_tensors(const TaskStep& one) {
    const GraphNode& node = one.step.node;
    const Shape &a = context_.graph.shape(node.inputs[0]), &shape = context_.graph.shape(node.outputs[0]);
    const std::int64_t depth = a.back(), columns = shape.back(), rows = shape[shape.size() - 2];
    begin_elements();
    text_ += fmt::format("const int row = e / {0}, column = e % {0}; float v = 0; ", columns);
    if (node.inputs.size() > 2) text_ += element(one.operands[2], "v", "e");
    text_ += fmt::format("for (int k = 0; k < {}; ++k) {{ float a, b; {} {} v = fma(a, b, v); }}\n", depth,
                         element(one.operands[0], "a", fmt::format("row * {} + k", depth)),
                         element(one.operands[1], "b",
                                 fmt::format("(row / {} * {} + k) * {} + column", rows, depth, columns)));
    write_element(one, "v");
  }

  void add_grid_sample(const TaskStep& one) {
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
    text_ +=
        element(one.operands[1], "column", "2 * place") + element(one.operands[1], "row", "2 * place + 1");
    text_ += fmt::format("\ncolumn = in_elements(column, {1}, {2}); row = in_elements(row, {0}, {2});\n",
                         x[2], x[3], how.aligned ? 1 : 0);
    const auto value = [&](const std::string& to, const std::string& at) {
      return fmt::format("float {0} = 0; {{ const int at = {1}; if (at >= 0) {2} }}\n", to, at,
                         element(one.operands[0], to, fmt::format("plane * {} + at", x[2] * x[3])));
    };
    if (how.nearest) {
      text_ += value("v0", offset_of("rint(row)", "rint(column)")) + "v = v0; ";
    } else {
      text_ +=
          "const float top = floor(row), left = floor(column), down = row - top, right = column - left;\n";
      text_ += value("v0", offset_of("top", "left")) + value("v1", offset_of("top", "left + 1")) +
               value("v2", offset_of("top + 1", "left")) + value("v3", offset_of("top + 1", "left + 1"));
      text_ +=
          "v = (1 - down) * (1 - right) * v0; v = fma((1 - down) * right, v1, v);\n"
          "v = fma(down * (1 - right), v2, v); v = fma(down * right, v3, v); ";
    }
    write_element(one, "v");
  }

  // A place that indices name, which are in range.
  void add_gather(const TaskStep& one) {
    const GraphNode& node = one.step.node;
    const auto& gather = std::get<Gather>(node.primitive);
    const Shape &x = context_.graph.shape(node.inputs[0]), &indices = context_.graph.shape(node.inputs[1]);
    const std::int64_t side = x[gather.axis], inner = elements_between(x, gather.axis + 1, x.size());
    begin_elements();
    std::string number, from;
    if (gather.by == By::index) {
      number = fmt::format("e / {} % {}", inner, elements_of(indices));
      from =
          fmt::format("(e / {} * {} + at) * {} + e % {}", inner * elements_of(indices), side, inner, inner);
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

  // Each element finds its rank.
  void add_top_k(const TaskStep& one) {
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

  const SourceContext& context_;
  const Task& task_;
  const TaskTile& tile_;
  int words_ = 1;  ///< of an element
  TaskSource made_;
  std::string text_;
  std::size_t number_ = 0;         ///< of the step
  std::int64_t last_product_ = 0;  ///< its weights
};

}  // namespace

TaskSource source_of(const SourceContext& context, const Task& task, const TaskTile& tile) {
  return TaskWriter(context, task, tile).write();
}

DeviceLaunch launch_of(std::vector<TaskSource> tasks) {
  std::ranges::stable_sort(tasks, {}, [](const TaskSource& one) { return one.text; });
  DeviceLaunch launch;
  std::string body;
  int local_floats = 4;
  const auto argument = [&](std::int32_t value) {
    launch.arguments.push_back(value);
    return fmt::format("b{}", launch.arguments.size() - 1);
  };
  for (const TaskSource& task : tasks) launch.groups += task.groups;
  const std::string groups = argument(launch.groups);
  for (std::size_t t = 0; t < tasks.size();) {
    // Tasks of equal text, which begin at their own work-groups.
    std::size_t end = t;
    std::vector<std::string> ends;
    int begin = 0;
    for (std::size_t i = 0; i < t; ++i) begin += tasks[i].groups;
    std::vector<std::string> begins{t == 0 ? "0" : argument(begin)};
    for (int next = begin; end < tasks.size() && tasks[end].text == tasks[t].text; ++end) {
      next += tasks[end].groups;
      local_floats = std::max(local_floats, tasks[end].local_floats);
      if (end + 1 < tasks.size() && tasks[end + 1].text == tasks[t].text) begins.push_back(argument(next));
      if (end + 1 == tasks.size() || tasks[end + 1].text != tasks[t].text)
        ends.push_back(end + 1 == tasks.size() ? groups : argument(next));
    }
    const bool is_last = end == tasks.size();
    body += (t == 0 ? "" : "else ") + (is_last ? std::string() : fmt::format("if (group < {}) ", ends[0])) +
            "{\n";
    const auto chosen = [&](const std::string& name, const std::vector<std::string>& values) {
      std::string text;
      for (std::size_t i = values.size(); i-- > 1;)
        text += fmt::format("group >= {} ? {} : ", begins[i], values[i]);
      body += fmt::format("const int {} = {}{}; ", name, text, values[0]);
    };
    std::vector<std::string> names;
    for (std::size_t a = 0; a < tasks[t].arguments.size(); ++a) {
      std::vector<std::string> values;
      for (std::size_t i = t; i < end; ++i) values.push_back(argument(tasks[i].arguments[a]));
      chosen(fmt::format("a{}", a), values);
    }
    chosen("group_begin", begins);
    body += "const int own = group - group_begin;\n" + tasks[t].text + "}\n";
    t = end;
  }
  std::string parameters;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) parameters += fmt::format(", int b{}", i);
  launch.source = fmt::format(
      "kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void NAME(global float* arena, long "
      "frame_floats, "
      "global const float* restrict weights, global const int* restrict tables{}) {{\nBEGIN({}, {})\n{}}}\n",
      parameters, local_floats, groups, body);
  return launch;
}

}  // namespace sightline::nn
