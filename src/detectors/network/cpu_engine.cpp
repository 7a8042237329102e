#include "detectors/network/cpu_engine.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "network/plan/cpu_runner.hpp"
#include "onnx/import.hpp"

namespace sightline::network {
namespace {

/// Inputs and outputs of real numbers are the plan's own memory; those of whole numbers are converted.
class CpuEngineRunner : public Runner {
 public:
  CpuEngineRunner(const nn::CpuPlan& plan, std::int64_t memory_limit) : runner_(plan, memory_limit) {
    for (const int input : plan.graph.inputs()) {
      nn::Tensor& given = given_.emplace_back(plan.graph.type(input));
      inputs_.push_back(given.data() == nn::DataType::f32 ? view_of(given)
                                                          : Tensor(Kind::whole, given.shape()));
    }
    for (const nn::Tensor& one : given_) pointers_.push_back(&one);
    outputs_.resize(plan.graph.outputs().size());
  }

  Tensor& input(std::size_t i) override { return inputs_[i]; }
  const Tensor& output(std::size_t i) override { return outputs_[i]; }

  void run(std::size_t segment, WorkMeter* meter) override {
    if (segment > 0) return;  // segments are parts for devices
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].kind() == Kind::whole) take_wholes(inputs_[i], given_[i]);
    }
    const std::vector<nn::Tensor>& made = runner_.run(pointers_, meter);
    for (std::size_t i = 0; i < made.size(); ++i) show(made[i], outputs_[i]);
  }

  std::vector<double> time_levels() override {
    run(0, nullptr);
    return runner_.wave_seconds();
  }

 private:
  static Tensor view_of(nn::Tensor& tensor) {
    return Tensor::view({Kind::real, tensor.shape()}, tensor.as<float>().data());
  }

  static void take_wholes(const Tensor& from, nn::Tensor& to) {
    nn::with_type(to.data(), [&]<typename T>() {
      const std::span<T> elements = to.as<T>();
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<T>(from.wholes()[i]);
    });
  }

  static void show(const nn::Tensor& from, Tensor& to) {
    if (from.data() == nn::DataType::f32) {
      const bool is_shown =
          to.has_data() && to.shape() == from.shape() && to.reals() == from.as<float>().data();
      if (!is_shown) to = view_of(const_cast<nn::Tensor&>(from));  // NOLINT: is read
      return;
    }
    to.allocate({Kind::whole, from.shape()});
    nn::with_type(from.data(), [&]<typename T>() { std::ranges::copy(from.as<T>(), to.wholes()); });
  }

  nn::CpuRunner runner_;
  std::vector<nn::Tensor> given_;  ///< inputs of the plan
  std::vector<const nn::Tensor*> pointers_;
  std::vector<Tensor> inputs_, outputs_;
};

}  // namespace

nn::Graph engine_graph(const nn::OnnxModel& model, const Graph& graph, std::int64_t memory_limit) {
  nn::OnnxModel sized = model;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    nn::TensorType& type = sized.graph.inputs[i].type;
    type.shape = graph.inputs[i].type.shape;
    if (graph.inputs[i].type.kind == Kind::real) type.data = nn::DataType::f32;
  }
  return nn::import_onnx(sized, memory_limit);
}

std::unique_ptr<const nn::CpuPlan> make_cpu_plan(const nn::OnnxModel& model, const Graph& graph,
                                                 std::int64_t memory_limit) {
  try {
    nn::CpuPlanOptions options;
    options.memory_limit = memory_limit;
    return std::make_unique<const nn::CpuPlan>(
        nn::plan_for_cpu(engine_graph(model, graph, memory_limit), options));
  } catch (const nn::Problem& problem) {
    logger().debug("the network engine does not run the network, which {}", problem.what());
    return nullptr;
  }
}

std::unique_ptr<Runner> make_cpu_runner(const nn::CpuPlan& plan, std::int64_t memory_limit) {
  return std::make_unique<CpuEngineRunner>(plan, memory_limit);
}

}  // namespace sightline::network
