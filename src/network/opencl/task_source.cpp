#include "network/opencl/task_source.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "network/opencl/expression_source.hpp"
#include "network/opencl/task_writer.hpp"

namespace sightline::nn {

TaskSource TaskWriter::write() {
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

std::string TaskWriter::argument(std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
    throw Problem("needs more memory than a device's kernels can index");
  made_.arguments.push_back(static_cast<std::int32_t>(value));
  return fmt::format("a{}", made_.arguments.size() - 1);
}

std::int64_t TaskWriter::add_weights(const std::vector<float>& values) {
  std::vector<float>& all = context_.weights;
  all.resize((all.size() + 15) / 16 * 16, 0.0F);
  const auto first = static_cast<std::int64_t>(all.size());
  all.insert(all.end(), values.begin(), values.end());
  return first;
}

std::string TaskWriter::table(const std::vector<std::int32_t>& numbers) {
  std::vector<std::int32_t>& all = context_.tables;
  all.resize((all.size() + 3) / 4 * 4, 0);
  const auto first = static_cast<std::int64_t>(all.size());
  all.insert(all.end(), numbers.begin(), numbers.end());
  return argument(first);
}

void TaskWriter::read_ahead(std::int64_t first) {
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
    text_ += fmt::format("READ_AHEAD({} + part * {}, {}, {}, {})\n", argument(last_product_), row, row, rows,
                         last.lanes());
}

std::int64_t TaskWriter::start_of(int tensor) const {
  return context_.stored[tensor].offset / (4 * words_);
}

const LocalPlace* TaskWriter::local(int tensor) const {
  const auto found = tile_.tensors.find(tensor);
  return found == tile_.tensors.end() ? nullptr : &found->second;
}

std::string TaskWriter::text_of_points(const PointForm& form) {
  switch (form.kind) {
    case PointForm::Kind::none:
      break;
    case PointForm::Kind::own:
      if (form.step == 1) return " + g";
      return form.step == kLanes ? " + 16 * g" : fmt::format(" + {} * g", argument(form.step));
    case PointForm::Kind::pixels:
      return form.shift == 0 ? fmt::format(" + {} * y + {} * x", argument(form.row_step), argument(form.step))
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

std::string TaskWriter::choice(const DeviceOperand& operand, const std::string& variable,
                               std::int64_t divisor,
                               const std::function<std::string(const ChannelRun&)>& text) {
  std::string all;
  for (std::size_t r = 0; r < operand.runs.size(); ++r) {
    const ChannelRun& run = operand.runs[r];
    const bool is_last = r + 1 == operand.runs.size();
    all += is_last ? text(run) : fmt::format("{} < {} ? {} : ", variable, run.end / divisor, text(run));
  }
  return "(" + all + ")";
}

std::string TaskWriter::quad_of_run(const ChannelRun& run, const std::string& q) {
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

std::string TaskWriter::channel_of_run(const ChannelRun& run, const std::string& c) {
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

std::string TaskWriter::listed(const DeviceOperand& operand, const std::string& c) {
  const PointForm& form = operand.runs[0].points;
  const bool is_one = form.kind != PointForm::Kind::none && form.kind != PointForm::Kind::own;
  std::vector<std::int32_t> places;
  for (const ChannelRun& run : operand.runs) {
    const LocalPlace* const place = local(run.tensor);
    for (std::int64_t i = 0; i < run.end - run.begin; ++i) {
      const std::int64_t lane = run.lane + i;
      const std::int64_t from = run.block_step > 0 ? run.base + lane / kLanes * run.block_step + lane % kLanes
                                                   : run.base + i * run.step;
      places.push_back(static_cast<std::int32_t>(place ? place->at + run.number + i * (run.step == 0 ? 0 : 1)
                                                       : start_of(run.tensor) + from));
      if (!is_one) places.push_back(static_cast<std::int32_t>(place ? -place->pitch : run.points.step));
    }
  }
  const std::string list = table(places);
  if (is_one) return fmt::format("arena[tables[{} + {}]{}]", list, c, text_of_points(form));
  return fmt::format("LISTED({}, {})", list, c);
}

std::string TaskWriter::elements(const DeviceOperand& operand, const std::string& c) {
  std::vector<std::int32_t> places;
  for (const Operand::Channel& one : operand.elements)
    places.push_back(static_cast<std::int32_t>(start_of(operand.tensors[to_size(one.source)]) + one.offset));
  return fmt::format("arena[tables[{} + g * {} + {}]]", table(places), operand.count, c);
}

std::string TaskWriter::constant(const DeviceOperand& operand, const std::string& q, bool is_quad) {
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

std::string TaskWriter::channel(const DeviceOperand& operand, const std::string& c) {
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

std::string TaskWriter::quad(const DeviceOperand& operand, const std::string& q) {
  if (operand.kind == DeviceOperand::Kind::constant)
    return operand.by_channel ? constant(operand, q, true) : "(float4)(" + constant(operand, q, true) + ")";
  if (operand.kind == DeviceOperand::Kind::quads)
    return choice(operand, q, 4, [&](const ChannelRun& run) { return quad_of_run(run, q); });
  if (operand.runs.size() == 1 && operand.runs[0].step == 0 && operand.kind == DeviceOperand::Kind::channels)
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

std::string TaskWriter::filled_quad(const DeviceOperand& operand, const std::string& q) {
  const std::string value = quad(operand, q);
  return operand.count % 4 == 0 ? value : fmt::format("without_rest({}, {}, {})", value, q, operand.count);
}

void TaskWriter::store(int tensor, const std::string& value, std::int64_t channels) {
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

std::string TaskWriter::place_in(const OutputPlace& place, const std::string& c) {
  const std::string base = argument(place.base), points = text_of_points(place.points);
  if (!place.channels.empty())
    return fmt::format("{} + tables[{} + {}]{}", base, table(place.channels), c, points);
  return place.channel_step == 1
             ? fmt::format("{} + {}{}", base, c, points)
             : fmt::format("{} + {} * {}{}", base, argument(place.channel_step), c, points);
}

void TaskWriter::store_channel(int tensor, const std::string& value, const std::string& c) {
  if (const LocalPlace* const place = local(tensor))
    text_ += fmt::format("tile[{} + p * {} + {}] = {}; ", place->at, place->pitch, c, value);
  if (context_.has_blocks[to_size(tensor)])
    text_ += fmt::format("arena[{} + CHANNEL_IN_BLOCKS({}, {}) + 16 * g] = {}; ", argument(start_of(tensor)),
                         c, argument(context_.stored[tensor].block_step), value);
  for (const OutputPlace& place : context_.outputs[to_size(tensor)])
    text_ += fmt::format("arena[{}] = {}; ", place_in(place, c), value);
}

void TaskWriter::finish(const TaskStep& one) {
  if (!one.step.finish) return store(one.step.outputs()[0], "v", one.channels);
  write_map(one, *one.step.finish, one.finish_operands);
}

void TaskWriter::write_map(const TaskStep& one, const GraphNode& map,
                           const std::vector<DeviceOperand>& operands) {
  std::vector<std::string> texts;
  for (const DeviceOperand& operand : operands)
    texts.push_back(operand.count == 0 ? "v" : quad(operand, "q"));
  const ExpressionText text = text_for(std::get<Map>(map.primitive).expression, texts);
  text_ += text.statements + "\n";
  for (std::size_t i = 0; i < map.outputs.size(); ++i) store(map.outputs[i], text.results[i], one.channels);
}

void TaskWriter::pixel() {
  if (task_.width == 0) return;
  const std::uint64_t inverse = ((std::uint64_t{1} << 32) + to_size(task_.width) - 1) / to_size(task_.width);
  text_ += fmt::format("PIXEL({}, {}) ", argument(task_.width),
                       argument(static_cast<std::int32_t>(static_cast<std::uint32_t>(inverse))));
}

void TaskWriter::begin_quads(const TaskStep& one) {
  text_ += fmt::format("FOR_QUADS({}, {}) if (p >= count) continue; ", one.quads(), tile_.shift);
  pixel();
}

void TaskWriter::end_quads() {
  text_ += "}\nBARRIER\n";
}

void TaskWriter::add_step(const TaskStep& one) {
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
    case StepKind::top_k_of_many:
      return add_top_k_of_many(one);
  }
}

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
