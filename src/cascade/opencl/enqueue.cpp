// One frame's commands on a device, stage by stage, and what comes back.
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "cascade/opencl/impl.hpp"

namespace sightline::cascade {
namespace {

constexpr auto kLaunch = DeviceSpan::Kind::stage;

using opencl::groups;

template <typename Add>
void enqueue_pyramid(OpenClSlot::Impl& i, const PictureView& frame, const Add& add) {
  const cl_int stride = i.frame_stride();
  if (!frame.is_gray()) add(i.input.convert(i.queue, frame, i.frame, stride));
  i.pyramid.enqueue(i.queue, i.frame, stride, i.images.device(), add);
}

template <typename Add>
void enqueue_scan(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const CascadeWorkspace& w,
                  const Add& add) {
  const auto plane = static_cast<cl_int>(w.layout.plane);
  const auto capacity = static_cast<cl_int>(i.capacity);
  const Size window = s.detector->model().window;
  const auto nodes = static_cast<cl_int>(s.detector->model().nodes.size());
  add(i.queue.fill(i.found, 0, kWindowBytes));
  add(i.queue.fill(i.visited, 0, kWindowBytes));
  const auto set = [&](const auto&... packed) {
    i.scan.arguments(i.integrals.device(), cl_int{w.layout.stride}, plane, i.level_buffer,
                     i.scan_tiles.buffer(), s.stages, s.roots, i.nodes, nodes, i.corners, s.leaves,
                     window.width, window.height, packed..., cl_int{w.early_stages}, capacity, i.bits,
                     i.found);
  };
  if (s.tuning.packed) {
    set(s.packed_nodes, s.packed_trees, cl_int{s.packed_stages});
  } else {
    set();
  }
  add(i.scan.enqueue(i.queue, groups(i.scan_tiles.size(), static_cast<std::size_t>(s.tuning.group))));
  i.keep_visited.arguments(i.level_buffer, i.bits, i.found, capacity, i.visited);
  constexpr std::size_t kGroups = 64;
  add(i.keep_visited.enqueue(i.queue, groups(kGroups, kFinishGroup)));
}

template <typename Add>
void enqueue_finish(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const CascadeWorkspace& w,
                    const Add& add) {
  const auto plane = static_cast<cl_int>(w.layout.plane);
  const auto all = static_cast<cl_int>(s.detector->model().stages.size());
  // The last stage's sum is the score, so it runs even where all have.
  const cl_int first = std::min<cl_int>(w.early_stages, all - 1);
  const Size window = s.detector->model().window;
  const auto nodes = static_cast<cl_int>(s.detector->model().nodes.size());
  add(i.queue.fill(i.passed, 0, kCandidateBytes));
  i.finish.arguments(i.integrals.device(), cl_int{w.layout.stride}, plane, i.level_buffer, s.stages, s.roots,
                     i.frame_nodes, nodes, i.frame_corners, s.leaves, window.width, window.height, first, all,
                     static_cast<cl_int>(i.capacity), i.visited, i.passed);
  // Groups go on to further windows; so many fill any device.
  const std::size_t count = s.context->device().type == opencl::DeviceType::cpu ? 16 : 1024;
  add(i.finish.enqueue(i.queue, groups(count, kFinishGroup)));
}

constexpr auto nowhere = [](opencl::Event) {};

}  // namespace

void enqueue_stage(const OpenClStages::Impl& s, OpenClSlot& slot, OpenClSlot::Impl& i,
                   const CascadeWorkspace& w, std::size_t stage) {
  const auto add = [&](opencl::Event event) {
    slot.add(kLaunch, stage, s.detector->stages()[stage].name, std::move(event));
  };
  switch (stage) {
    case kPyramid:
      enqueue_pyramid(i, w.frame, add);
      break;
    case kIntegral:
      i.integral.enqueue(i.queue, i.images.device(), i.integrals.device(), add);
      break;
    case kScan:
      enqueue_scan(s, i, w, add);
      break;
    default:
      enqueue_finish(s, i, w, add);
  }
}

opencl::Event read_list(OpenClSlot::Impl& i, std::size_t stage) {
  const std::size_t count = std::min(i.read_back, i.capacity) + 1;
  return stage == kScan ? i.queue.read(i.visited, i.list_staging.data(), count * kWindowBytes)
                        : i.queue.read(i.passed, i.list_staging.data(), count * kCandidateBytes);
}

namespace {

// Beginning of a list: its length, and how long the ones before it would have been.
struct Lengths {
  std::size_t here = 0;
  std::size_t found = 0;
};

Lengths lengths_of(OpenClSlot::Impl& i, std::size_t stage) {
  cl_int header[4];
  std::memcpy(header, i.list_staging.data(), sizeof header);
  const auto length = [](cl_int count) { return static_cast<std::size_t>(std::max(count, 0)); };
  return {length(header[0]), length(header[stage == kScan ? 1 : 2])};
}

[[noreturn]] void refuse(const OpenClStages::Impl& s) {
  throw Error(ExitCode::failed, "'" + s.context->name() + "' reports a window that does not exist");
}

// What a device says is not used as an index unchecked.
Survivor checked_window(const OpenClStages::Impl& s, const OpenClSlot::Impl& i, const cl_int* record) {
  const auto index = static_cast<std::size_t>(record[0]);
  if (index >= i.levels.size()) refuse(s);
  const DeviceLevel& level = i.levels[index];
  const auto lies = [&](cl_int at, cl_int windows) {
    return at >= 0 && at % level.step == 0 && at / level.step < windows;
  };
  if (!lies(record[1], level.windows_x) || !lies(record[2], level.windows_y)) refuse(s);
  return {record[0], record[1], record[2]};
}

}  // namespace

void take_list(const OpenClStages::Impl& s, OpenClSlot::Impl& i, CascadeWorkspace& w, std::size_t stage) {
  Lengths lengths = lengths_of(i, stage);
  if (lengths.found > i.capacity) {  // more than fits: ask again with room for all
    if (lengths.found > i.windows) refuse(s);
    make_lists(i, std::min(lengths.found + lengths.found / 4, i.windows));
    enqueue_scan(s, i, w, nowhere);
    if (stage == kFinish) enqueue_finish(s, i, w, nowhere);
    i.queue.wait(read_list(i, stage));
    lengths = lengths_of(i, stage);
  }
  if (lengths.here > i.capacity || lengths.found > i.capacity) refuse(s);
  if (lengths.here > i.read_back) {
    i.read_back = std::min(lengths.here + lengths.here / 4, i.capacity);
    i.queue.wait(read_list(i, stage));
  }
  const auto record = [&](std::size_t k, std::size_t bytes, auto& values) {
    std::memcpy(&values, i.list_staging.data() + (k + 1) * bytes, sizeof values);
  };
  // The device appends in any order; the CPU finds them in this one.
  if (stage == kScan) {
    w.survivors.resize(lengths.here);
    for (std::size_t k = 0; k < lengths.here; ++k) {
      cl_int values[4];
      record(k, kWindowBytes, values);
      w.survivors[k] = checked_window(s, i, values);
    }
    std::sort(w.survivors.begin(), w.survivors.end());
    return;
  }
  const auto threshold = static_cast<double>(s.detector->model().stages.back().threshold);
  w.candidates.resize(lengths.here);
  for (std::size_t k = 0; k < lengths.here; ++k) {
    struct {
      cl_int window[4];
      cl_long sum;
    } values;
    record(k, kCandidateBytes, values);
    w.candidates[k] = {checked_window(s, i, values.window), s.cascade.sum_of(values.sum) - threshold};
  }
  std::sort(w.candidates.begin(), w.candidates.end());
}

}  // namespace sightline::cascade
