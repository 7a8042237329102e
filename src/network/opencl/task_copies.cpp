#include "network/opencl/task_copies.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace sightline::nn {

void set_padding(const Graph& graph, const Stored& stored, TaskStep& step, std::vector<float>& weights) {
  const GraphNode& node = step.step.node;
  const auto& pad = std::get<Pad>(node.primitive);
  const Shape& shape = graph.shape(node.inputs[0]);
  std::vector<std::int64_t> places(to_size(elements_of(shape)));
  stored.for_each_address(node.inputs[0], shape, Layout::of_elements(shape),
                          [&](std::int64_t to, std::int64_t, int tensor, std::int32_t address) {
                            places[to_size(to)] = stored[tensor].offset / 4 + address;
                          });
  // Which element goes where, the padding finds itself.
  Tensor numbers(DataType::i32, shape);
  std::iota(numbers.as<std::int32_t>().begin(), numbers.as<std::int32_t>().end(), 0);
  const Tensor* const operand = &numbers;
  const Tensor from =
      std::move(evaluate(Pad{pad.before, pad.behind, pad.mode, Scalar(std::int32_t{-1})}, {&operand, 1})[0]);
  const auto filling = static_cast<std::int64_t>(weights.size());
  weights.push_back(pad.mode == Padding::constant ? pad.value.as<float>() : 0.0F);
  for (const std::int32_t number : from.as<std::int32_t>())
    step.copied.push_back(number < 0 ? ~filling : places[to_size(number)]);
  step.target = stored[node.outputs[0]].offset / 4;
}

TaskStep copy_of_output(const Graph& graph, const Stored& stored, int output, std::int64_t target,
                        std::vector<float>& weights) {
  const Shape& shape = graph.shape(output);
  const std::int64_t words = std::max<std::int64_t>(bytes_of({graph.type(output).data, {}}) / 4, 1);
  TaskStep copy;
  copy.kind = StepKind::copy;
  copy.target = target;
  copy.copied.resize(to_size(elements_of(shape) * words));
  std::map<int, std::int64_t> constants;  // first floats of the weights
  stored.for_each_address(output, shape, Layout::of_elements(shape),
                          [&](std::int64_t to, std::int64_t, int tensor, std::int32_t address) {
                            std::int64_t from = stored[tensor].offset / 4 + address * words;
                            if (const Tensor* const value = graph.constant(tensor)) {
                              const auto [found, is_new] = constants.try_emplace(tensor, weights.size());
                              if (is_new) {
                                weights.resize(weights.size() + (value->bytes().size() + 3) / 4);
                                std::memcpy(weights.data() + found->second, value->bytes().data(),
                                            value->bytes().size());
                              }
                              from = ~(found->second + address * words);
                            }
                            for (std::int64_t w = 0; w < words; ++w)
                              copy.copied[to_size(to * words + w)] = from < 0 ? from - w : from + w;
                          });
  return copy;
}

}  // namespace sightline::nn
