#include "network/plan/cpu_works.hpp"

#include <algorithm>

#include "network/cpu/epilogue.hpp"
#include "network/cpu/matrix.hpp"
#include "network/cpu/tile.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/plan/finish.hpp"
#include "network/plan/gathering.hpp"
#include "network/reference.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kTileBytes = std::int64_t{128} << 10;  // of scratch, so that tiles stay in the cache
constexpr std::int64_t kFewestPoints = 13;                    // which fill the registers of a product

/// Nodes of one domain, tile by tile.
class GroupWork : public Work {
 public:
  GroupWork(std::vector<std::unique_ptr<TileKernel>> kernels, std::string name, std::int64_t points,
            std::int64_t row, std::int64_t most)
      : kernels_(std::move(kernels)),
        name_(std::move(name)),
        rows_(points / row),
        row_(row),
        parts_((row + most - 1) / most) {}

  int items() const override { return static_cast<int>(rows_ * parts_); }
  void run(int item, const WorkMemory& memory) const override {
    const std::int64_t row = parts_ == 1 ? item : item / parts_, part = item - row * parts_;
    const std::int64_t begin = row_ * part / parts_, end = row_ * (part + 1) / parts_;
    const Tile tile{row * row_ + begin, static_cast<int>(end - begin), row_, row, begin};
    for (const auto& kernel : kernels_) {
      memory.spare->reset();
      kernel->run(tile, memory);
    }
  }
  std::string name() const override {
    return std::to_string(row_) + "x" + std::to_string(rows_) + ": " + name_;
  }

 private:
  std::vector<std::unique_ptr<TileKernel>> kernels_;
  std::string name_;
  std::int64_t rows_, row_, parts_;  ///< rows, points of each, and tiles of each
};

/// A node that the reference computes, or a product of whole tensors.
class AloneWork : public Work {
 public:
  AloneWork(const Graph& graph, const Stored& stored, int node) : node_(graph.node(node)) {
    for (const int input : node_.inputs) {
      types_.push_back(graph.type(input));
      operands_.emplace_back(graph, stored, input);
    }
  }
  int items() const override { return 1; }
  void run(int /*item*/, const WorkMemory& memory) const override {
    std::vector<Tensor> operands;
    std::vector<const Tensor*> pointers;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      operands.emplace_back(types_[i]);
      operands_[i].copy(memory.tensors, operands[i].bytes().data());
    }
    for (const Tensor& one : operands) pointers.push_back(&one);
    std::vector<Tensor> made;
    try {
      made = results_of(pointers);
    } catch (const Problem& problem) {
      throw node_failure(node_, problem);
    }
    for (std::size_t i = 0; i < made.size(); ++i)
      std::ranges::copy(made[i].bytes(), memory.tensors[node_.outputs[i]]);
  }
  std::string name() const override {
    return "alone: " + std::string(name_of(node_.primitive)) + " " + node_.name;
  }

 private:
  std::vector<Tensor> results_of(Inputs operands) const {
    if (!std::holds_alternative<Product>(node_.primitive) || !has_fused_multiply_add())
      return evaluate(node_.primitive, operands);
    std::vector<Tensor> products{Tensor(infer(node_.primitive, types_)[0])};
    multiply_tensors(operands, products);
    return products;
  }

  const GraphNode node_;
  Types types_;
  std::vector<Gathering> operands_;
};

class CopyWork : public Work {
 public:
  CopyWork(const Graph& graph, const Stored& stored, int tensor, int target)
      : gathering_(graph, stored, tensor), target_(target), name_(graph.tensor(tensor).name) {}
  int items() const override { return gathering_.pieces(); }
  void run(int item, const WorkMemory& memory) const override {
    gathering_.copy_piece(item, memory.tensors, memory.tensors[target_]);
  }
  std::string name() const override { return "copy " + name_; }

 private:
  Gathering gathering_;
  int target_;
  std::string name_;
};

std::unique_ptr<TileKernel> kernel_of(KernelContext& context, const GroupStep& step) {
  if (step.softmax > 0) return make_softmax(context, step.node.inputs[0], step.outputs()[0], step.softmax);
  if (!step.finish) return make_tile_kernel(context, step.node);
  GraphNode whole = step.node;
  whole.outputs = step.finish->outputs;
  return make_tile_kernel(context, whole, *finish_of(context.graph, *step.finish, step.node.outputs[0]));
}

}  // namespace

CpuGroup make_group(const Graph& graph, const Stored& stored, const StepGroup& group) {
  const GroupStep& first = group.steps[0];
  if (group.is_alone) return {std::make_unique<AloneWork>(graph, stored, first.nodes[0]), 0};
  const std::int64_t points = stored.planned(first.outputs()[0]).layout.points;
  KernelContext context{graph, stored, points, 0};
  std::vector<std::unique_ptr<TileKernel>> kernels;
  std::string name;
  std::int64_t bytes = 0;  // of a point
  for (const GroupStep& step : group.steps) {
    kernels.push_back(kernel_of(context, step));
    name += (name.empty() ? "" : " + ") + text_of(graph, step);
    for (const int output : step.outputs())
      bytes += channel_count(stored.planned(output).layout) * static_cast<std::int64_t>(sizeof(float));
  }
  const std::int64_t most =
      std::clamp(kTileBytes / std::max<std::int64_t>(bytes, 1), kFewestPoints, kMostPoints);
  return {std::make_unique<GroupWork>(std::move(kernels), name + " " + first.node.name, points,
                                      context.linear, most),
          context.zero_floats};
}

std::unique_ptr<Work> make_copy(const Graph& graph, const Stored& stored, int tensor, int target) {
  return std::make_unique<CopyWork>(graph, stored, tensor, target);
}

}  // namespace sightline::nn
