#include "detectors/network/plan_steps.hpp"

#include <fmt/format.h>

#include "detectors/network/tensor_kernels.hpp"

namespace sightline::network {

// --- convolutions

void MapStep::lay_out(const std::vector<Storage>& storages) {
  in.lay_out(storages);
  out.lay_out(storages);
}

void ConvolutionStep::lay_out(const std::vector<Storage>& storages) {
  MapStep::lay_out(storages);
  if (added) added->lay_out(storages);
}

std::size_t ConvolutionStep::pointers() const {
  return static_cast<std::size_t>(window.kernel[0]) * in.map().channels.size() +
         2 * static_cast<std::size_t>(out.blocks());
}

namespace {
std::string window_text(const WindowPlan& window) {
  const std::string stride =
      window.stride == Pair{1, 1} ? "" : "/" + std::to_string(std::max(window.stride[0], window.stride[1]));
  return fmt::format("{}x{}{}", window.kernel[1], window.kernel[0], stride);
}
}  // namespace

std::string ConvolutionStep::text() const {
  return fmt::format("{} {}>{}", window_text(window), in.map().channels.size(), channels);
}

std::string DepthwiseStep::text() const {
  return fmt::format("depthwise {} {}", window_text(window), channels);
}

std::int64_t ConvolutionStep::zeros() const {
  const std::int64_t pixels =
      (window.out[1] - 1) * window.stride[1] + (window.kernel[1] - 1) * window.dilation[1] + 1;
  return pixels * in.map().column_step * kBlock + kBlock;
}

void ConvolutionStep::run(const PlanMemory& memory, int row) const {
  const std::size_t inputs = in.size();
  float** taps = memory.pointers;
  for (std::int64_t ky = 0; ky < window.kernel[0]; ++ky) {
    const std::int64_t y = row * window.stride[0] - window.before[0] + ky * window.dilation[0];
    const bool is_inside = y >= 0 && y < in.map().height;
    const std::ptrdiff_t before = window.before[1] * in.pixel_step();
    for (std::size_t c = 0; c < inputs; ++c)
      *taps++ = is_inside ? in.row(memory, c, y) - before : memory.zeros;
  }
  float** const outputs = taps;
  float** const adds = taps + out.blocks();
  for (int b = 0; b < out.blocks(); ++b) {
    outputs[b] = out.block(memory, row, b);
    if (added) adds[b] = added->row(memory, static_cast<std::size_t>(b), row);
  }
  ConvolutionRow work;
  work.taps = memory.pointers;
  work.inputs = static_cast<int>(inputs);
  work.kernel_rows = static_cast<int>(window.kernel[0]);
  work.kernel_columns = static_cast<int>(window.kernel[1]);
  work.column_step = window.dilation[1] * in.pixel_step();
  work.pixel_step = window.stride[1] * in.pixel_step();
  work.weights = weights.data();
  work.bias = bias.data();
  work.blocks = out.blocks();
  work.width = static_cast<int>(window.out[1]);
  work.out = outputs;
  work.added = added ? adds : nullptr;
  work.finish = finish;
  convolve_row(work);
  out.clear_ends(memory, row);
}

void DepthwiseStep::run(const PlanMemory& memory, int row) const {
  DepthwiseRow work;
  work.rows = memory.pointers;
  work.kernel_rows = static_cast<int>(window.kernel[0]);
  work.kernel_columns = static_cast<int>(window.kernel[1]);
  work.column_step = window.dilation[1] * kBlock;
  work.pixel_step = window.stride[1] * kBlock;
  work.width = static_cast<int>(window.out[1]);
  work.finish = finish;
  const std::int64_t taps = window.kernel[0] * window.kernel[1];
  for (int b = 0; b < out.blocks(); ++b) {
    const auto block = static_cast<std::size_t>(b);
    for (std::int64_t ky = 0; ky < window.kernel[0]; ++ky) {
      const std::int64_t y = row * window.stride[0] - window.before[0] + ky * window.dilation[0];
      const bool is_inside = y >= 0 && y < in.map().height;
      memory.pointers[ky] = is_inside ? in.row(memory, block, y) - window.before[1] * kBlock : memory.zeros;
    }
    work.weights = weights.data() + b * taps * kBlock;
    work.bias = bias.data() + b * kBlock;
    work.out = out.block(memory, row, b);
    work.added = added ? added->row(memory, block, row) : nullptr;
    depthwise_row(work);
  }
  out.clear_ends(memory, row);
}

// --- elementwise

void BinaryStep::lay_out(const std::vector<Storage>& storages) {
  a.lay_out(storages);
  out.lay_out(storages);
  if (b) b->lay_out(storages);
}

void BinaryStep::run(const PlanMemory& memory, int row) const {
  const int width = a.map().width;
  const bool is_single =
      b && b->map().height == 1 && b->map().width == 1 && (a.map().height > 1 || width > 1);
  for (int block = 0; block < out.blocks(); ++block) {
    const auto i = static_cast<std::size_t>(block);
    const float* const first = a.row(memory, i, row);
    float* const to = out.block(memory, row, block);
    if (b) {
      binary_row(op, first, b->row(memory, i, is_single ? 0 : row), is_single ? 0 : kBlock, width, activation,
                 to);
    } else if (!constant.empty()) {
      binary_row(op, first, constant.data() + block * kBlock, 0, width, activation, to);
    } else {
      activate_row(first, width, activation, to);
    }
  }
  out.clear_ends(memory, row);
}

std::string BinaryStep::text() const {
  if (!b && constant.empty()) return "activation";
  switch (op) {
    case Binary::add:
      return "sum";
    case Binary::subtract:
      return "difference";
    case Binary::multiply:
      return "product";
    case Binary::divide:
      return "quotient";
    case Binary::maximum:
      return "maximum";
    case Binary::minimum:
      return "minimum";
  }
  return "";
}

// --- pooling and resizing

namespace {

nn::WindowRow window_row(const WindowPlan& window, int in_width) {
  nn::WindowRow row;
  row.in_width = in_width;
  row.kernel = static_cast<int>(window.kernel[1]);
  row.step = static_cast<int>(window.stride[1]);
  row.before = static_cast<int>(window.before[1]);
  row.width = static_cast<int>(window.out[1]);
  return row;
}

}  // namespace

std::int64_t WindowStep::spare() const {
  return nn::reach_of(window_row(window, in.map().width)).count * window.kernel[0] * kBlock;
}

void WindowStep::fold_windows(nn::Fold fold, const PlanMemory& memory, int row) const {
  const std::int64_t top = row * window.stride[0] - window.before[0];
  const std::int64_t begin = std::max<std::int64_t>(0, top);
  const std::int64_t end = std::min<std::int64_t>(in.map().height, top + window.kernel[0]);
  nn::WindowRow part = window_row(window, in.map().width);
  part.fold = fold;
  part.rows = memory.pointers;
  part.row_count = static_cast<int>(std::max<std::int64_t>(0, end - begin));
  for (int block = 0; block < out.blocks(); ++block) {
    for (std::int64_t y = begin; y < end; ++y)
      memory.pointers[y - begin] = in.row(memory, static_cast<std::size_t>(block), y);
    part.out = out.block(memory, row, block);
    nn::fold_window(part, memory.spare);
  }
}

void PoolStep::run(const PlanMemory& memory, int row) const {
  fold_windows(nn::Fold::maximum, memory, row);
  out.clear_ends(memory, row);
}

void AverageStep::run(const PlanMemory& memory, int row) const {
  fold_windows(nn::Fold::sum, memory, row);
  const float rows = counts.rows[static_cast<std::size_t>(row)];
  for (int block = 0; block < out.blocks(); ++block) {
    float* to = out.block(memory, row, block);
    for (const float columns : counts.columns) {
      const float count = std::max(1.0F, rows * columns);
      for (std::ptrdiff_t c = 0; c < kBlock; ++c) *to++ /= count;
    }
  }
  out.clear_ends(memory, row);
}

void PadStep::run(const PlanMemory& memory, int row) const {
  const std::int64_t y = row - top, width = in.map().width;
  for (int block = 0; block < out.blocks(); ++block) {
    float* const to = out.block(memory, row, block);
    std::fill_n(to, out.width() * kBlock, value);
    if (y >= 0 && y < in.map().height)
      std::copy_n(in.row(memory, static_cast<std::size_t>(block), y), width * kBlock, to + left * kBlock);
  }
  out.clear_ends(memory, row);
}

void ResizeStep::run(const PlanMemory& memory, int row) const {
  const auto y = static_cast<std::size_t>(row);
  for (int block = 0; block < out.blocks(); ++block) {
    const auto i = static_cast<std::size_t>(block);
    const float* const upper = in.row(memory, i, rows.first[y]);
    float* const to = out.block(memory, row, block);
    if (linear) {
      nn::resample_row({upper, in.row(memory, i, rows.second[y]), rows.weight[y], columns.first.data(),
                        columns.second.data(), columns.weight.data(), static_cast<int>(columns.first.size()),
                        kBlock, to});
    } else {
      nn::pick_points(upper, columns.first, kBlock, 0, to);
    }
  }
  out.clear_ends(memory, row);
}

void MeanStep::run(const PlanMemory& memory, int row) const {
  const auto count = static_cast<float>(std::int64_t{in.map().height} * in.map().width);
  for (int block = 0; block < out.blocks(); ++block) {
    const auto i = static_cast<std::size_t>(block);
    float* const to = out.block(memory, row, block);
    nn::fold_map(nn::Fold::sum, {in.row(memory, i, 0), in.row_step(i), in.map().height, in.map().width}, to);
    for (std::ptrdiff_t c = 0; c < kBlock; ++c) to[c] /= count;
  }
  out.clear_ends(memory, row);
}

// --- between layouts

void CopyStep::run(const PlanMemory& memory, int row) const {
  const int width = in.map().width;
  const std::ptrdiff_t step = in.pixel_step();
  for (int block = 0; block < out.blocks(); ++block) {
    float* const to = out.block(memory, row, block);
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    const std::size_t count = std::min<std::size_t>(kBlock, in.size() - first);
    const float* const from = in.row(memory, first, row);
    const std::ptrdiff_t apart = count > 1 ? in.row(memory, first + 1, row) - from : 0;
    bool is_matrix = step == 1;
    for (std::size_t c = 2; c < count && is_matrix; ++c)
      is_matrix = in.row(memory, first + c, row) - from == static_cast<std::ptrdiff_t>(c) * apart;
    if (is_matrix) transpose_matrix(from, apart, to, kBlock, static_cast<std::int64_t>(count), width);
    for (std::size_t c = 0; c < count && !is_matrix; ++c) {
      const float* const one = in.row(memory, first + c, row);
      for (int x = 0; x < width; ++x) to[x * kBlock + static_cast<std::ptrdiff_t>(c)] = one[x * step];
    }
    for (std::size_t c = count; c < kBlock; ++c) {
      for (int x = 0; x < width; ++x) to[x * kBlock + static_cast<std::ptrdiff_t>(c)] = 0;
    }
  }
  out.clear_ends(memory, row);
}

void PackStep::lay_out(const std::vector<Storage>& storages) {
  if (has_map()) in.lay_out(storages);
  out.lay_out(storages);
}

void PackStep::run(const PlanMemory& memory, int row) const {
  if (has_map()) {
    const std::ptrdiff_t step = in.pixel_step();
    for (int c = 0; c < out.blocks(); ++c) {
      const float* const from = in.row(memory, static_cast<std::size_t>(c), row);
      float* const to = out.block(memory, row, c);
      for (int x = 0; x < in.map().width; ++x) to[x] = from[x * step];
    }
  } else {
    const Tensor& tensor = (*memory.values)[static_cast<std::size_t>(value)];
    const std::int64_t width = tensor.dim(3), plane = tensor.dim(2) * width;
    for (int c = 0; c < out.blocks(); ++c)
      std::copy_n(tensor.reals() + c * plane + row * width, width, out.block(memory, row, c));
  }
  out.clear_ends(memory, row);
}

void PlaceStep::lay_out(const std::vector<Storage>& storages) {
  in.lay_out(storages);
  out_ = row_place(storages, {storage, 0}, 1);
}

void PlaceStep::run(const PlanMemory& memory, int row) const {
  const std::int64_t width = in.map().width;
  const std::ptrdiff_t step = in.pixel_step();
  float* const to = memory.at(out_, 0) + row * row_step;
  std::size_t next = 0;
  for (std::size_t c = 0; c < in.size(); c = next) {
    // Channels that lie side by side, as those of a block do, and evenly in the tensor, together.
    const float* const from = in.row(memory, c, row);
    const std::int64_t apart = c + 1 < in.size() ? offsets[c + 1] - offsets[c] : 1;
    for (next = c + 1; next < in.size() && in.row(memory, next, row) - from == std::ptrdiff_t(next - c) &&
                       offsets[next] - offsets[next - 1] == apart;)
      ++next;
    float* const first = to + offsets[c];
    const auto count = static_cast<std::int64_t>(next - c);
    if (column_step == 1) {
      transpose_matrix(from, step, first, apart, width, count);
      continue;
    }
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t k = 0; k < count; ++k) first[x * column_step + k * apart] = from[x * step + k];
    }
  }
}

void ReshapeStep::run(const PlanMemory& memory, int /*row*/) const {
  Tensor &source = (*memory.values)[static_cast<std::size_t>(from)],
         &target = (*memory.values)[static_cast<std::size_t>(to)];
  std::swap(source, target);  // both have as many elements
  source.reshape(from_shape);
  target.reshape(to_shape);
}

NodeStep::NodeStep(const Graph& graph, const Node& node) : graph_(graph), node_(node) {
  const KnownInputs known(graph, node);
  has_all_outputs_ = node.code->infer(known.call).size() == node.outputs.size() &&
                     std::ranges::find(node.outputs, kAbsent) == node.outputs.end();
  if (has_all_outputs_ && node.outputs.size() == 1)
    parts_ = static_cast<int>(parts_of(known.call, graph.value(node.outputs[0]).type));
}

void NodeStep::run(const PlanMemory& memory, int row) const {
  const Call call = call_of(graph_, node_, *memory.values);
  if (parts_ > 1) {
    const std::span<Tensor> output(&(*memory.values)[static_cast<std::size_t>(node_.outputs[0])], 1);
    if (!run_by_kernels(call, output, {row, parts_}) && row == 0) node_.code->run(call, output);
    return;
  }
  // Outputs keep their memory from frame to frame, also where one fails.
  std::vector<Tensor> outputs(node_.outputs.size());
  const auto exchange = [&] {
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      if (node_.outputs[i] != kAbsent)
        std::swap(outputs[i], (*memory.values)[static_cast<std::size_t>(node_.outputs[i])]);
    }
  };
  exchange();
  try {
    if (!has_all_outputs_) allocate_outputs(call, outputs);
    if (!run_by_kernels(call, outputs)) node_.code->run(call, outputs);
  } catch (const Problem& problem) {
    exchange();
    throw node_error(node_, problem);
  } catch (...) {
    exchange();
    throw;
  }
  exchange();
}

}  // namespace sightline::network
