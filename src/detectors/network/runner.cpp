#include "detectors/network/runner.hpp"

#include "network/plan/cpu_runner.hpp"
#include "network/reference.hpp"

namespace sightline::network {
namespace {

class PartRunner : public Runner {
 public:
  PartRunner(const Parts& parts, std::int64_t memory_limit)
      : all_(parts),
        pools_(parts.pool_bytes.size()),
        sizes_(static_cast<std::size_t>(parts.sizes_bytes)),
        tensors_(parts.graph.tensors().size()),
        made_(parts.graph.tensors().size(), nullptr) {
    for (std::size_t pool = 0; pool < pools_.size(); ++pool) pools_[pool].plan(parts.pool_bytes[pool]);
    for (const Part& part : parts.parts)
      runners_.push_back(std::make_unique<nn::CpuRunner>(part.plan, memory_limit));
  }

  Tensor& input(std::size_t i) override { return placed(all_.graph.inputs()[i]); }
  const Tensor& output(std::size_t i) override { return *value(all_.graph.outputs()[i]); }
  std::span<InterStageBuffer> pools() override { return pools_; }
  std::size_t parts() const override { return runners_.size(); }

  void run(std::size_t number, WorkMeter* meter) override {
    const nn::Partition& partition = all_.parts[number].partition;
    nn::CpuRunner& runner = *runners_[number];
    std::vector<const Tensor*> operands;
    for (const int input : partition.inputs) operands.push_back(value(input));
    for (std::size_t i = 0; i < partition.outputs.size(); ++i) {
      if (all_.place_of(partition.outputs[i]).is_there)
        runner.place_output(i, placed(partition.outputs[i]).bytes().data());
    }
    const std::vector<Tensor>& made = runner.run(operands, meter);
    for (std::size_t i = 0; i < partition.outputs.size(); ++i)
      made_[static_cast<std::size_t>(partition.outputs[i])] = &made[i];
  }

  std::vector<double> time_waves() override {
    std::vector<double> seconds;
    for (std::size_t p = 0; p < parts(); ++p) {
      run(p, nullptr);
      const std::vector<double> own = runners_[p]->wave_seconds();
      const bool has_copies = !all_.parts[p].plan.copies.empty();
      seconds.insert(seconds.end(), own.begin(), own.end() - (has_copies ? 0 : 1));
    }
    return seconds;
  }

 private:
  // A tensor in the memory that its pool has for this frame.
  Tensor& placed(int tensor) {
    const PoolPlace& place = all_.place_of(tensor);
    std::byte* const pool = place.pool == kSizesPool ? sizes_.data() : pools_[place.pool].data();
    std::byte* const memory = pool + place.offset;
    Tensor& own = tensors_[static_cast<std::size_t>(tensor)];
    if (own.bytes().data() != memory) own = Tensor::over(all_.graph.type(tensor), memory);
    return own;
  }
  const Tensor* value(int tensor) {
    if (const Tensor* const constant = all_.graph.constant(tensor)) return constant;
    return all_.place_of(tensor).is_there ? &placed(tensor) : made_[static_cast<std::size_t>(tensor)];
  }

  const Parts& all_;
  std::vector<InterStageBuffer> pools_;
  AlignedBuffer<std::byte> sizes_;
  std::vector<std::unique_ptr<nn::CpuRunner>> runners_;  // by part
  std::vector<Tensor> tensors_;                          // by tensor, of those in pools
  std::vector<const Tensor*> made_;                      // by tensor: of the runner that has made it
};

class ReferenceRunner : public Runner {
 public:
  ReferenceRunner(const nn::Graph& graph, std::int64_t memory_limit) : graph_(graph), limit_(memory_limit) {
    for (const int input : graph.inputs()) inputs_.emplace_back(graph.type(input));
  }

  Tensor& input(std::size_t i) override { return inputs_[i]; }
  const Tensor& output(std::size_t i) override { return outputs_[i]; }
  void run(std::size_t /*part*/, WorkMeter* /*meter*/) override {
    std::vector<const Tensor*> inputs;
    for (const Tensor& input : inputs_) inputs.push_back(&input);
    outputs_ = nn::run_reference(graph_, inputs, limit_);
  }

 private:
  const nn::Graph& graph_;
  const std::int64_t limit_;
  std::vector<Tensor> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Runner> make_runner(const Parts& parts, std::int64_t memory_limit) {
  return std::make_unique<PartRunner>(parts, memory_limit);
}

std::unique_ptr<Runner> make_reference_runner(const nn::Graph& graph, std::int64_t memory_limit) {
  return std::make_unique<ReferenceRunner>(graph, memory_limit);
}

}  // namespace sightline::network
