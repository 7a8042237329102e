#include "network/opencl/partitions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "network/opencl/device_kernels.hpp"
#include "network/plan/fuse.hpp"
#include "network/plan/rewrite.hpp"

namespace sightline::nn {
namespace {

bool has_kernel(const Rewritten& of, int node) {
  return has_device_tiles(of.graph, of.tensors, node) || has_device_whole(of.graph, of.tensors, node);
}

class Partitioner {
 public:
  Partitioner(const Graph& graph, std::size_t most)
      : rewritten_(rewritten(graph)), graph_(rewritten_.graph), most_(static_cast<int>(most)) {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n)
      on_device_.push_back(has_kernel(rewritten_, static_cast<int>(n)));
  }

  Partitions divide() {
    while (true) {
      find_numbers();
      std::vector<Partition> parts;
      bool fits = true;
      for (int number = 0; number <= last_; ++number) {
        Partition part = part_of(number);
        if (part.outputs.empty()) continue;
        fits = fits &&
               (!part.on_device || (is_worth_transfers(part, number) && leave_to_cpu(part.graph, nodes_)));
        parts.push_back(std::move(part));
      }
      if (fits) return {std::move(rewritten_.graph), std::move(parts)};
    }
  }

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  // Numbers of partitions by tensor: even ones are for devices.
  void find_numbers() {
    number_.assign(graph_.tensors().size(), kFirst);
    last_ = 0;
    for (const int n : needed_nodes(graph_)) {
      const GraphNode& node = graph_.node(n);
      int number = kFirst;
      for (const int input : node.inputs) number = std::max(number, number_[at(input)]);
      if (is_view(node.primitive)) {
        number = std::max(number, 0);
        if (number % 2 == 0 && !can_show(node.outputs[0])) ++number;
      } else if (number < 0) {
        number = on_device_[at(n)] ? 0 : 1;
      } else if ((number % 2 == 0) != on_device_[at(n)]) {
        ++number;
      }
      number = std::min(number, most_ - 1);
      for (const int output : node.outputs) number_[at(output)] = number;
      last_ = std::max(last_, number);
    }
  }

  // Whether devices can copy a tensor.
  bool can_show(int tensor) const {
    return is_known(graph_.shape(tensor)) && bytes_of({graph_.type(tensor).data, {}}) % 4 == 0;
  }

  Partition part_of(int number) {
    Partition part;
    part.on_device = number % 2 == 0;
    nodes_.clear();
    std::map<int, int> own;  // tensors by those of the whole graph
    const auto copied = [&](int tensor) {
      const auto [found, is_new] = own.try_emplace(tensor, 0);
      if (!is_new) return found->second;
      const GraphTensor& of = graph_.tensor(tensor);
      if (of.constant) return found->second = part.graph.add_constant(of.name, of.constant);
      part.inputs.push_back(tensor);
      return found->second = part.graph.add_input(of.name, of.type);
    };
    for (const int n : needed_nodes(graph_)) {
      const GraphNode& node = graph_.node(n);
      if (number_[at(node.outputs[0])] != number) continue;
      std::vector<int> inputs;
      for (const int input : node.inputs) inputs.push_back(copied(input));
      const std::vector<int> made = part.graph.add(node.name, node.primitive, inputs);
      for (std::size_t i = 0; i < made.size(); ++i) {
        own[node.outputs[i]] = made[i];
        if (!is_read_later(node.outputs[i], number)) continue;
        part.outputs.push_back(node.outputs[i]);
        part.graph.add_output(made[i]);
      }
      nodes_[node.name].push_back(n);
    }
    return part;
  }
  bool is_read_later(int tensor, int number) const {
    return graph_.is_output(tensor) || std::ranges::any_of(graph_.nodes(), [&](const GraphNode& node) {
             return std::ranges::find(node.inputs, tensor) != node.inputs.end() &&
                    number_[at(node.outputs[0])] > number;
           });
  }

  // Whether a part is large enough to go to a device again. Nodes of others are left to the CPU.
  bool is_worth_transfers(const Partition& part, int number) {
    constexpr std::int64_t kLeastMultiplyAdds = 1'000'000;
    std::int64_t multiply_adds = 0;
    for (const GraphNode& node : part.graph.nodes()) multiply_adds += multiply_adds_of(part.graph, node);
    if (number == 0 || multiply_adds >= kLeastMultiplyAdds) return true;
    for (const auto& [name, nodes] : nodes_) {
      for (const int one : nodes) on_device_[at(one)] = false;
    }
    return false;
  }

  // Domains of a part's tensors may be others than those of the whole graph's. Returns whether devices have
  // all its kernels; nodes for which they have none are left to the CPU.
  bool leave_to_cpu(const Graph& part, const std::map<std::string, std::vector<int>>& nodes) {
    const Rewritten own = rewritten(part);
    bool fits = true;
    for (const int n : needed_nodes(own.graph)) {
      const GraphNode& node = own.graph.node(n);
      if (is_view(node.primitive) || has_kernel(own, n)) continue;
      for (const int one : nodes.at(node.name)) on_device_[at(one)] = false;
      fits = false;
    }
    return fits;
  }

  static constexpr int kFirst = -1;  ///< of inputs and constants

  Rewritten rewritten_;
  const Graph& graph_;
  const int most_;
  std::vector<bool> on_device_;                    ///< by node
  std::vector<int> number_;                        ///< by tensor
  std::map<std::string, std::vector<int>> nodes_;  ///< of the last part, by name
  int last_ = 0;
};

}  // namespace

Partitions partitions_of(const Graph& graph, std::size_t most) {
  return Partitioner(graph, most).divide();
}

}  // namespace sightline::nn
