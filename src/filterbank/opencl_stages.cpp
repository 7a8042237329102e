// Kernels of a detector on a device: building them, enqueueing a frame, collecting what was found.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "base/error.hpp"
#include "filterbank/opencl_impl.hpp"

namespace sightline::filterbank {

KernelTuning default_tuning(const opencl::DeviceInfo& device) {
  KernelTuning tuning;  // a GPU's: the best forms on an NVIDIA H200
  if (device.type == opencl::DeviceType::cpu) {
    // A CPU driver makes vectors of explicit vector types; local memory is main memory there.
    const int width = std::clamp(device.native_float_width, 4, 16);
    tuning.filter = "vector";
    tuning.filter_width = width;
    tuning.filter_rows = 3;
    tuning.filter_group = 8;
    tuning.filter_group_rows = 4;
    tuning.histogram = "owner";
    tuning.normalise = "cells";
    tuning.normalise_width = width;
    tuning.dot = "float";
    tuning.classify_width = width;
    tuning.classify_rows = 8;
    tuning.classify_group = 1;
  }
  return tuning;
}

namespace {

// Replaces what the device decides, and what a variant leaves no choice in.
void complete(KernelTuning& tuning, const opencl::DeviceInfo& device) {
  const auto one_pixel = [](const std::string& variant) {
    return variant == "plain" || variant == "unrolled";
  };
  if (one_pixel(tuning.filter)) tuning.filter_width = tuning.filter_rows = 1;
  if (one_pixel(tuning.classify)) tuning.classify_width = tuning.classify_rows = 1;
  if (tuning.dot == "auto") {
    // The instructions for dot products take one window.
    const bool one = tuning.classify_width == 1;
    const bool nvidia = device.vendor.find("NVIDIA") != std::string::npos;
    tuning.dot = one && nvidia ? "ptx" : one && device.integer_dot_product ? "khr" : "integer";
  }
}

}  // namespace

OpenClSlot::OpenClSlot(const OpenClStages& stages) : impl_(std::make_unique<Impl>(*stages.impl_->context)) {
  const OpenClStages::Impl& s = *stages.impl_;
  Impl& i = *impl_;
  i.halve = opencl::Kernel(s.pyramid, "halve");
  i.resize = opencl::Kernel(s.pyramid, "resize");
  if (!s.exact) {
    float_method::make_kernels(s, i);
    return;
  }
  i.filter = opencl::Kernel(s.filter, "filter");
  i.histogram = opencl::Kernel(s.histogram, "histogram");
  i.normalise = opencl::Kernel(s.normalise, "normalise");
  i.classify = opencl::Kernel(s.classify, "classify");
  i.block_energies = opencl::Kernel(s.classify, "block_energies");
  i.keep_nearest = opencl::Kernel(s.classify, "keep_nearest");
  i.subtract_energies = opencl::Kernel(s.classify, "subtract_energies");
  i.candidates = opencl::Kernel(s.candidates, "candidates");
}

void OpenClSlot::Impl::launched(const char* stage, opencl::Event event) {
  if (events.empty() || events.back().name != stage) {
    events.push_back({stage, std::move(event), {}});
  } else {
    events.back().last = std::move(event);
  }
}

std::string define(const std::string& name, int value) {
  return " -D" + name + "=" + std::to_string(value);
}

OpenClSlot::~OpenClSlot() = default;
OpenClSlot::OpenClSlot(OpenClSlot&&) noexcept = default;
const std::vector<OpenClSlot::StageEvents>& OpenClSlot::events() const {
  return impl_->events;
}

OpenClStages::OpenClStages(const FilterbankDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : impl_(std::make_unique<Impl>()) {
  Impl& s = *impl_;
  s.detector = &detector;
  s.context = &context;
  s.tuning = tuning;
  const Model& model = detector.model();
  s.bins = round_up(model.dictionary.size(), 4);
  s.exact = detector.options().arithmetic == Arithmetic::exact;
  s.pyramid = opencl::Program(context, "filterbank/pyramid.cl", "", cache);
  if (!s.exact) {
    float_method::build(s, cache);
    return;
  }
  if (model.window.blocks_y() > kWeightPad) {
    throw Error(
        ExitCode::model,
        "windows higher than " + std::to_string((kWeightPad + 1) * kCell) + " pixels run on the CPU only",
        "use --device none");
  }
  complete(s.tuning, context.device());

  const auto upper = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  };
  const std::string bins = define("BINS", s.bins);
  s.filter =
      opencl::Program(context, "filterbank/filter.cl",
                      define("FILTERS", model.dictionary.size()) + define("V", s.tuning.filter_width) +
                          define("ROWS", s.tuning.filter_rows) + " -DVARIANT_" + upper(s.tuning.filter),
                      cache);
  s.histogram = opencl::Program(
      context, "filterbank/histogram.cl",
      bins + define("CELLS", s.tuning.histogram_cells) + " -DVARIANT_" + upper(s.tuning.histogram), cache);
  s.normalise =
      opencl::Program(context, "filterbank/normalise.cl",
                      bins + define("V", s.tuning.normalise_width) + define("EPSILON", model.epsilon) +
                          " -DVARIANT_" + upper(s.tuning.normalise),
                      cache);
  s.classify = opencl::Program(
      context, "filterbank/classify.cl",
      bins + define("V", s.tuning.classify_width) + define("ROWS", s.tuning.classify_rows) +
          define("BLOCKS_X", model.window.blocks_x()) + define("BLOCKS_Y", model.window.blocks_y()) +
          " -DVARIANT_" + upper(s.tuning.classify) + " -DDOT_" + upper(s.tuning.dot),
      cache);
  s.candidates = opencl::Program(context, "filterbank/candidates.cl", "", cache);

  opencl::Queue queue(context);
  std::vector<float> dictionary(static_cast<std::size_t>(model.dictionary.size()) * kDictionaryEntry, 0.0F);
  for (int k = 0; k < model.dictionary.size(); ++k) {
    float* entry = dictionary.data() + k * kDictionaryEntry;
    for (int i = 0; i < kTaps; ++i) entry[i] = model.dictionary.filters()[k][i];
    entry[kTaps] = static_cast<float>(255 - k);
  }
  s.dictionary = opencl::Buffer(context, bytes_of(dictionary), opencl::Buffer::Access::read_only);
  queue.write_now(s.dictionary, dictionary.data(), bytes_of(dictionary));

  for (int t = 0; t < model.templates(); ++t) {
    const PackedWeights& weights = detector.packed_weights(t);
    std::vector<cl_int> packed(static_cast<std::size_t>(model.window.blocks_x()) * s.bins * kWeightPad, 0);
    for (int by = 0; by < model.window.blocks_y(); ++by) {
      const std::int32_t* row = weights.row(by);
      for (int i = 0; i < model.window.blocks_x() * s.bins; ++i)
        packed[static_cast<std::size_t>(i) * kWeightPad + by] = row[i];
    }
    s.weights.emplace_back(context, bytes_of(packed), opencl::Buffer::Access::read_only);
    queue.write_now(s.weights.back(), packed.data(), bytes_of(packed));
    s.energies.push_back(detector.template_energy(t));
  }

  s.raw_threshold = detector.raw_threshold();
}

OpenClStages::~OpenClStages() = default;
const KernelTuning& OpenClStages::tuning() const {
  return impl_->tuning;
}

void enqueue_octaves(opencl::Queue& queue, opencl::Kernel& halve, const opencl::Buffer& octaves,
                     const opencl::Buffer& table, const std::vector<DeviceOctave>& places,
                     const std::function<void(opencl::Event)>& launched) {
  constexpr std::size_t kAtOnce = 6;  // 64 pixels a side of a work-group become one
  constexpr std::size_t kGroup = 16;  // OCTAVE_GROUP
  const auto groups = [](int pixels) { return (static_cast<std::size_t>(pixels) + 63) / 64; };
  for (std::size_t first = 0; first + 1 < places.size(); first += kAtOnce) {
    const DeviceOctave& source = places[first];
    if (source.width == 0 || source.height == 0) break;
    const std::size_t count = std::min(kAtOnce, places.size() - 1 - first);
    halve.arguments(octaves, table, static_cast<cl_int>(first), static_cast<cl_int>(count));
    launched(halve.enqueue(
        queue, {{groups(source.width) * kGroup, groups(source.height) * kGroup, 1}, {kGroup, kGroup, 1}}));
  }
}

void OpenClStages::enqueue(OpenClSlot& slot, const FilterbankWorkspace& workspace) const {
  const Impl& s = *impl_;
  OpenClSlot::Impl& i = *slot.impl_;
  const KernelTuning& t = s.tuning;
  const Model& model = s.detector->model();
  i.events.clear();
  const auto stage = [&](const char* name, opencl::Event event) { i.launched(name, std::move(event)); };

  const int stride = i.octave_places[0].stride;
  const auto frame_bytes = static_cast<std::size_t>(stride) * workspace.frame.height();
  stage("upload", i.queue.upload(i.octaves, frame_bytes, i.frame_staging, [&](std::byte* memory) {
    for (int y = 0; y < workspace.frame.height(); ++y) {
      std::memcpy(memory + static_cast<std::size_t>(y) * stride, workspace.frame.row(y),
                  workspace.frame.width());
    }
  }));

  enqueue_octaves(i.queue, i.halve, i.octaves, i.octave_buffer, i.octave_places,
                  [&](opencl::Event event) { stage("pyramid", std::move(event)); });
  constexpr std::size_t kResizeItems = kResizeTileX / 4;
  stage("pyramid", i.resize.enqueue(i.queue, {{i.tiles_resize * kResizeItems, kResizeTileY, 1},
                                              {kResizeItems, kResizeTileY, 1}}));

  if (!s.exact) {
    float_method::enqueue(s, i);
    return;
  }
  const auto group_x = static_cast<std::size_t>(t.filter_group);
  const auto group_y = static_cast<std::size_t>(t.filter_group_rows);
  stage("filter", i.filter.enqueue(i.queue, {{i.tiles_filter * group_x, group_y, 1}, {group_x, group_y, 1}}));

  const auto histogram_items =
      static_cast<std::size_t>(t.histogram == "owner" ? t.histogram_cells : 8 * t.histogram_cells);
  stage("histogram",
        i.histogram.enqueue(i.queue, {{i.tiles_histogram * histogram_items, 1, 1}, {histogram_items, 1, 1}}));

  const auto widest = static_cast<std::size_t>(i.widest_pitch);
  const std::size_t normalise_x = widest / t.normalise_width;
  stage("normalise",
        i.normalise.enqueue(
            i.queue,
            {{normalise_x, kBlockCells, t.normalise == "cells" ? i.rows_cells : i.rows_blocks}, {0, 0, 0}}));

  const auto classify_items = static_cast<std::size_t>(t.classify_group);
  const auto parts = static_cast<std::size_t>(kBlockCells * model.window.blocks_x());
  const opencl::Range classify_range{{i.tiles_classify * classify_items, 1, parts}, {classify_items, 1, 1}};
  if (model.classifier == ClassifierKind::linear) {
    stage("classify", i.queue.fill(i.scores, 0, i.scores_count * 4));
    i.classify.arguments(i.features, i.level_buffer, i.classify_tiles, s.weights[0], i.scores);
    stage("classify", i.classify.enqueue(i.queue, classify_range));
  } else {
    stage("classify", i.queue.fill(i.products, 0, i.scores_count * 4));
    i.block_energies.arguments(i.features, i.level_buffer, i.block_rows, i.energies);
    stage("classify", i.block_energies.enqueue(i.queue, {{widest, 1, i.rows_blocks}, {0, 0, 0}}));
    for (std::size_t k = 0; k < s.weights.size(); ++k) {
      i.classify.arguments(i.features, i.level_buffer, i.classify_tiles, s.weights[k], i.products);
      stage("classify", i.classify.enqueue(i.queue, classify_range));
      i.keep_nearest.arguments(i.products, i.scores, static_cast<cl_int>(i.scores_count), s.energies[k],
                               cl_int{k == 0});
      stage("classify", i.keep_nearest.enqueue(i.queue, {{i.scores_count, 1, 1}, {0, 0, 0}}));
    }
    i.subtract_energies.arguments(i.energies, i.level_buffer, i.window_rows, i.scores);
    stage("classify", i.subtract_energies.enqueue(i.queue, {{widest, 1, i.rows_windows}, {0, 0, 0}}));
  }

  stage("candidates", i.queue.fill(i.found, 0, 16));
  i.candidates.arguments(i.scores, i.level_buffer, i.window_rows, cl_int{s.raw_threshold},
                         static_cast<cl_int>(i.capacity), i.found);
  stage("candidates", i.candidates.enqueue(i.queue, {{widest, 1, i.rows_windows}, {0, 0, 0}}));
  i.found_read =
      i.queue.read(i.found, i.found_staging.data(), (std::min(i.capacity, kFirstCapacity) + 1) * 16);
  i.queue.flush();
}

namespace {

double seconds_between(const opencl::Event& first, const opencl::Event& last, const std::string& device) {
  return 1e-9 * static_cast<double>(last.times(device).ended - first.times(device).started);
}

const opencl::Event& end_of(const OpenClSlot::StageEvents& events) {
  return events.last ? events.last : events.first;
}

}  // namespace

double OpenClSlot::StageEvents::seconds(const std::string& device) const {
  return seconds_between(first, end_of(*this), device);
}

double OpenClSlot::frame_seconds(const std::string& device) const {
  return seconds_between(events().front().first, end_of(events().back()), device);
}

void OpenClStages::wait(OpenClSlot& slot) const {
  slot.impl_->queue.wait(slot.impl_->found_read);
}

void OpenClStages::finish(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  const Impl& s = *impl_;
  OpenClSlot::Impl& i = *slot.impl_;
  wait(slot);
  if (!s.exact) {
    float_method::finish(s, i, workspace);
    return;
  }
  cl_int count = 0;
  std::memcpy(&count, i.found_staging.data(), sizeof count);
  auto needed = static_cast<std::size_t>(count);
  if (needed > i.capacity) {  // more than fits: ask again with room for all
    i.capacity = needed + needed / 4;
    i.found = opencl::Buffer(*s.context, (i.capacity + 1) * 16);
    i.found_staging = opencl::StagingBuffer(i.queue, (i.capacity + 1) * 16);
    i.queue.fill(i.found, 0, 16);
    i.candidates.arguments(i.scores, i.level_buffer, i.window_rows, cl_int{s.raw_threshold},
                           static_cast<cl_int>(i.capacity), i.found);
    i.candidates.enqueue(i.queue, {{static_cast<std::size_t>(i.widest_pitch), 1, i.rows_windows}, {0, 0, 0}});
  }
  if (needed > kFirstCapacity) {
    i.queue.wait(i.queue.read(i.found, i.found_staging.data(), (needed + 1) * 16));
  }

  std::vector<Candidate> candidates(needed);
  for (std::size_t k = 0; k < needed; ++k) {
    cl_int record[4];
    std::memcpy(record, i.found_staging.data() + (k + 1) * 16, sizeof record);
    candidates[k] = {record[0], record[1], record[2], record[3]};
  }
  // The device appends in any order; the CPU finds them in this one.
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.level, a.y, a.x) < std::tie(b.level, b.y, b.x);
  });
  s.detector->group_candidates(workspace, candidates);
}

void OpenClStages::download(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  const Impl& s = *impl_;
  OpenClSlot::Impl& i = *slot.impl_;
  for (std::size_t l = 0; l < i.levels.size(); ++l) {
    const DeviceLevel& d = i.levels[l];
    Level& level = workspace.levels[l];
    const int pitch = level.grid.pitch();
    const auto rows = [&](const opencl::Buffer& buffer, int offset, int stride, int count, int width,
                          auto* target, std::ptrdiff_t target_stride) {
      using T = std::remove_pointer_t<decltype(target)>;
      std::vector<T> data(static_cast<std::size_t>(stride) * count);
      i.queue.wait(
          i.queue.read(buffer, data.data(), bytes_of(data), static_cast<std::size_t>(offset) * sizeof(T)));
      for (int y = 0; y < count; ++y)
        std::copy_n(data.data() + static_cast<std::size_t>(y) * stride, width, target + y * target_stride);
    };
    const ImageView<std::uint8_t> image = level.image.view();
    rows(i.images, d.image_offset - d.image_stride - 1, d.image_stride, d.height + 2, d.width + 2,
         image.row(-1) - 1, image.stride());
    if (!s.exact) continue;
    rows(i.votes, d.votes_offset, d.votes_stride, d.height, d.width, level.votes.view().data(),
         level.votes.stride());
    rows(i.features, d.features_offset, d.pitch, (d.cells_y - 1) * s.bins, pitch,
         reinterpret_cast<std::uint32_t*>(level.features.data()), pitch);
    rows(i.scores, d.scores_offset, d.pitch, d.windows_y, d.windows_x, level.scores.data(), pitch);
  }
  if (!s.exact) float_method::download(s, i, workspace);
}

}  // namespace sightline::filterbank
