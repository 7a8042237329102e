#include "network/plan_comparison.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "detectors/network/interpreter.hpp"
#include "detectors/network/opencl/device_levels.hpp"
#include "detectors/network/plan.hpp"

namespace sightline::test {

namespace {

using namespace network;

// Values with other bits; NaN is NaN, whatever its bits.
std::int64_t different(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return -1;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if (a.kind() == Kind::whole) {
      count += a.wholes()[i] != b.wholes()[i];
      continue;
    }
    const float x = a.reals()[i], y = b.reals()[i];
    count += std::isnan(x) ? !std::isnan(y) : std::memcmp(&x, &y, sizeof x) != 0;
  }
  return count;
}

// A device that networks run on; null where there is none.
// A GPU, if there is one.
const opencl::DeviceInfo* device_info() {
  static const std::vector<opencl::DeviceInfo> all = opencl::list_devices();
  const auto is_usable = [](const opencl::DeviceInfo& one) { return one.fused_multiply_add; };
  const auto is_gpu = [&](const opencl::DeviceInfo& one) {
    return is_usable(one) && one.type == DeviceType::gpu;
  };
  auto found = std::ranges::find_if(all, is_gpu);
  if (found == all.end()) found = std::ranges::find_if(all, is_usable);
  return found == all.end() ? nullptr : &*found;
}

const opencl::Context* device() {
  static const std::unique_ptr<opencl::Context> device =
      device_info() ? std::make_unique<opencl::Context>(opencl::ChosenDevice{*device_info(), 0, ""})
                    : nullptr;
  return device.get();
}

opencl::ProgramCache& cache() {
  static opencl::ProgramCache cache(std::filesystem::temp_directory_path() /
                                    ("sightline-test-kernels-" + std::to_string(getuid())));
  return cache;
}

// Levels of a plan on the device, a few frames at once: with the kernels for one frame, and with those for
// several.
class DeviceRuns {
 public:
  DeviceRuns(const Plan& plan, int frames, const DeviceLevels::Manner& manner)
      : plan_(plan), frames_(frames), queue_(*device()), levels_(plan, *device(), &cache(), manner) {
    levels_.wait_until_ready(frames);
    for (const int tiles : {1, frames}) {
      const DeviceLevels::Variant& variant = levels_.variant_for(tiles);
      arenas_.try_emplace(&variant, *device(), variant.bytes(frames));
    }
  }

  // Values of the results that differ from those of the runner, which has run with the same input.
  std::int64_t different(Runner& runner) {
    std::int64_t count = 0;
    for (const auto& [variant, arena] : arenas_) count += different(runner, *variant, arena);
    return count;
  }

 private:
  std::int64_t different(Runner& runner, const DeviceLevels::Variant& variant, const opencl::Buffer& arena) {
    auto& input = runner.shared()[0];  // of a network that is constant: none, which drivers may refuse
    for (int frame = 0; frame < frames_ && input.bytes() > 0; ++frame)
      queue_.wait(queue_.write(arena, input.data(), input.bytes(), variant.place_of(kInputPool, frame)));
    for (const PlanSegment& segment : plan_.segments) {
      if (segment.suits_devices)
        levels_.enqueue(variant, queue_, kernels_, arena, frames_, segment.first_level, segment.last_level,
                        [](const opencl::Event&) {});
    }
    std::int64_t count = 0;
    for (int frame = 0; frame < frames_; ++frame) {
      for (const Storage& s : plan_.storages) {
        const std::size_t segment = static_cast<std::size_t>(s.pool - kFirstResultPool);
        if (s.pool < kFirstResultPool || !plan_.segments[segment].suits_devices) continue;
        std::vector<float> got(static_cast<std::size_t>(s.floats()));
        queue_.wait(queue_.read(arena, got.data(), 4 * got.size(),
                                variant.place_of(static_cast<std::size_t>(s.pool), frame) +
                                    4 * static_cast<std::size_t>(s.offset)));
        count += different(s, got, runner.shared()[segment + 1]);
      }
    }
    return count;
  }

  static std::int64_t different(const Storage& s, const std::vector<float>& got, InterStageBuffer& expected) {
    const float* const want = reinterpret_cast<const float*>(expected.data()) + s.offset;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < s.floats(); ++i) {
      // Devices leave the ends of rows as they are.
      const std::int64_t x = i % s.row_floats() / s.lanes - s.pad;
      const float a = got[static_cast<std::size_t>(i)], b = want[i];
      if (x < 0 || x >= s.width) continue;
      count += std::isnan(a) ? !std::isnan(b) : std::memcmp(&a, &b, sizeof a) != 0;
    }
    return count;
  }

  const Plan& plan_;
  const int frames_;
  opencl::Queue queue_;
  DeviceLevels levels_;
  DeviceLevels::Kernels kernels_;
  std::map<const DeviceLevels::Variant*, opencl::Buffer> arenas_;
};

std::vector<std::unique_ptr<DeviceRuns>> runs_on_device(const Plan& plan, OnDevice on_device) {
  std::vector<std::unique_ptr<DeviceRuns>> runs;
  if (on_device == OnDevice::no || !device()) return runs;
  constexpr int kManyGroups = 132;
  for (const auto& [frames, by_level, groups] :
       {std::tuple{1, false, 2}, {3, false, kManyGroups}, {3, true, kManyGroups}}) {
    if (!by_level || on_device == OnDevice::by_level)
      runs.push_back(std::make_unique<DeviceRuns>(plan, frames, DeviceLevels::Manner{by_level, groups}));
  }
  return runs;
}

}  // namespace

bool is_gpu_there() {
  return device_info() && device_info()->type == DeviceType::gpu;
}

void expect_plan_equals_interpreter(const OnnxBuilder& network, OnDevice on_device,
                                    const std::vector<Fill>& fills) {
  Graph graph = network.typed_graph();
  simplify(graph, kPlanMemory);
  if (!has_fused_multiply_add()) GTEST_SKIP() << "no fused multiply-adds";
  const auto plan = make_plan(graph, kPlanMemory);
  ASSERT_TRUE(plan);
  Interpreter interpreter(graph, kPlanMemory);
  const auto runner = make_plan_runner(graph, *plan);
  const auto runs = runs_on_device(*plan, on_device);
  for (const Fill fill : fills) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      for (std::int64_t k = 0; k < interpreter.input(i).size(); ++k)
        interpreter.input(i).reals()[k] = runner->input(i).reals()[k] = value_of(fill, k);
    }
    interpreter.run_all();
    for (const int threads : {1, 3}) {
      oneapi::tbb::task_arena arena(threads);
      arena.execute([&] { runner->run_all(); });
      for (std::size_t i = 0; i < graph.outputs.size(); ++i)
        EXPECT_EQ(different(runner->output(i), interpreter.output(i)), 0)
            << "output " << i << ", fill " << static_cast<int>(fill) << ", threads " << threads;
    }
    for (std::size_t i = 0; i < runs.size(); ++i)
      EXPECT_EQ(runs[i]->different(*runner), 0) << "device " << i << ", fill " << static_cast<int>(fill);
  }
}

}  // namespace sightline::test
