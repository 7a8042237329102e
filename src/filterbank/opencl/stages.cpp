// Kernels of a detector on a device: building them, enqueueing a frame, collecting what was found.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "base/error.hpp"
#include "filterbank/opencl/impl.hpp"
#include "image/lbp.hpp"

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
    tuning.histogram_cells = 16;
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
void settle(OpenClStages::Impl& stages, const opencl::DeviceInfo& device) {
  KernelTuning& tuning = stages.tuning;
  const auto one_pixel = [](const std::string& variant) {
    return variant == "plain" || variant == "unrolled";
  };
  if (one_pixel(tuning.filter)) tuning.filter_width = tuning.filter_rows = 1;
  if (one_pixel(tuning.classify)) tuning.classify_width = tuning.classify_rows = 1;
  const auto histogram_bytes = [&] {  // a bin's sum, and a scale
    return static_cast<std::size_t>(tuning.histogram_cells) *
           ((stages.bins + stages.patterns) * sizeof(cl_int) + sizeof(cl_float));
  };
  while (histogram_bytes() > device.local_memory_bytes && tuning.histogram_cells > 1)
    tuning.histogram_cells /= 2;
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
  i.input = opencl::FrameInput(s.gray);
  i.pyramid = opencl::OctavePyramid(s.pyramid);
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
  if (s.detector->pre_rejects()) {
    i.project = opencl::Kernel(s.classify, "project");
    i.estimate = opencl::Kernel(s.classify, "estimate");
  }
  i.candidates = opencl::Kernel(s.candidates, "candidates");
}

OpenClSlot::~OpenClSlot() = default;
OpenClStages::OpenClStages(const FilterbankDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : impl_(std::make_unique<Impl>()) {
  if (!detector.info().cpu_only.empty())
    throw Error(ExitCode::usage, detector.info().cpu_only, "use --device none");
  Impl& s = *impl_;
  s.detector = &detector;
  s.context = &context;
  s.tuning = tuning;
  const Model& model = detector.model();
  s.bins = round_up(model.bins(), 4);
  s.patterns = round_up(model.descriptor.pattern_bins(), 4);
  s.exact = detector.options().arithmetic == Arithmetic::exact;
  s.gray = opencl::GrayKernels::build(context, cache);
  s.pyramid = opencl::OctavePyramid::build(context, cache);
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
  settle(s, context.device());

  const auto upper = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  };
  const std::string bins = define("BINS", s.bins) + define("PATTERN_BINS", s.patterns);
  const std::string response_map = std::string(model.descriptor.contrast_sensitive ? " -DSIGNS_APART" : "") +
                                   (model.descriptor.patterns ? " -DPATTERNS" : "");
  s.filter = opencl::Program(context, "filterbank/filter.cl",
                             response_map + define("FILTERS", model.dictionary.size()) +
                                 define("V", s.tuning.filter_width) + define("ROWS", s.tuning.filter_rows) +
                                 " -DVARIANT_" + upper(s.tuning.filter),
                             cache);
  s.histogram = opencl::Program(
      context, "filterbank/histogram.cl",
      bins + define("CELLS", s.tuning.histogram_cells) + " -DVARIANT_" + upper(s.tuning.histogram), cache);
  s.normalise =
      opencl::Program(context, "filterbank/normalise.cl",
                      bins + define("V", s.tuning.normalise_width) + define("EPSILON", model.epsilon) +
                          " -DVARIANT_" + upper(s.tuning.normalise),
                      cache);
  const std::string pre_rejection =
      detector.pre_rejects()
          ? " -DPRE_REJECTION" + define("RANK", PreRejection::kRank) + define("SHIFT", PreRejection::kShift)
          : "";
  s.classify = opencl::Program(
      context, "filterbank/classify.cl",
      bins + define("V", s.tuning.classify_width) + define("ROWS", s.tuning.classify_rows) +
          define("BLOCKS_X", model.window.blocks_x()) + define("BLOCKS_Y", model.window.blocks_y()) +
          " -DVARIANT_" + upper(s.tuning.classify) + " -DDOT_" + upper(s.tuning.dot) + pre_rejection,
      cache);
  s.candidates = opencl::Program(context, "filterbank/candidates.cl", pre_rejection, cache);

  opencl::Queue queue(context);
  std::vector<float> dictionary(static_cast<std::size_t>(model.dictionary.size()) * kDictionaryEntry, 0.0F);
  for (int k = 0; k < model.dictionary.size(); ++k) {
    float* entry = dictionary.data() + k * kDictionaryEntry;
    for (int i = 0; i < kTaps; ++i) entry[i] = model.dictionary.filters()[k][i];
    entry[kTaps] = static_cast<float>(model.descriptor.contrast_sensitive ? 254 - 2 * k : 255 - k);
  }
  dictionary.insert(dictionary.end(), kUniformLbp.begin(), kUniformLbp.end());
  upload(queue, s.dictionary, dictionary);

  for (int t = 0; t < model.templates(); ++t) {
    const PackedWeights& weights = detector.packed_weights(t);
    const int words = model.window.blocks_x() * weights.quads();  // a row of blocks
    std::vector<cl_int> packed(static_cast<std::size_t>(words) * kWeightPad, 0);
    for (int by = 0; by < model.window.blocks_y(); ++by) {
      const std::int32_t* row = weights.row(by);
      for (int i = 0; i < words; ++i) packed[static_cast<std::size_t>(i) * kWeightPad + by] = row[i];
    }
    upload(queue, s.weights.emplace_back(), packed);
    s.energies.push_back(detector.template_energy(t));
  }

  if (detector.pre_rejects()) {
    const PreRejection& low_rank = detector.pre_rejection();
    upload(queue, s.rejection_basis, low_rank.basis());
    std::vector<cl_int> unpacked;
    for (int k = 0; k < model.window.blocks() * PreRejection::kPairs; ++k) {
      const std::int32_t pair = low_rank.weights().row(0)[k];
      unpacked.push_back(static_cast<std::int16_t>(pair & 0xFFFF));
      unpacked.push_back(pair >> 16);
    }
    upload(queue, s.rejection_weights, unpacked);
  }
  s.raw_threshold = detector.raw_threshold();
}

OpenClStages::~OpenClStages() = default;
const KernelTuning& OpenClStages::tuning() const {
  return impl_->tuning;
}

StageSet OpenClStages::supported() const {
  StageSet all;
  for (const std::size_t stage : {kPyramid, kFilter, kHistogram, kClassify}) all.set(stage);
  return all;
}

void OpenClStages::check(const StageSet& on_device) const {
  if (!impl_->exact && on_device.any() && on_device != supported()) {
    throw Error(ExitCode::usage, "the float method's stages run all on the device or all on the CPU",
                "use --schedule gpu or cpu with --arithmetic float");
  }
}

std::unique_ptr<DeviceSlot> OpenClStages::make_slot() const {
  return std::make_unique<OpenClSlot>(*this);
}

void OpenClStages::prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const {
  auto& w = static_cast<FilterbankWorkspace&>(workspace);
  OpenClSlot::Impl& i = *static_cast<OpenClSlot&>(slot).impl_;
  plan(*impl_, i, w);
  for (std::size_t stage = kPyramid; stage <= kClassify; ++stage) {
    if (on_device[stage]) make_buffers(*impl_, i, w, stage);
  }
  // Where the CPU hands over to the device, it writes right into memory that the device takes it from.
  for (std::size_t stage = kPyramid; stage < kClassify; ++stage) {
    opencl::SharedBuffer& product = i.product(stage);
    if (!on_device[stage] && on_device[stage + 1]) {
      w.buffer_after(stage).bind(product.host_writes());
    } else if (on_device[stage]) {
      product.to_device_unwritten();
    }
  }
}

void OpenClStages::submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const {
  const Impl& s = *impl_;
  auto& own = static_cast<OpenClSlot&>(slot);
  auto& w = static_cast<FilterbankWorkspace&>(workspace);
  OpenClSlot::Impl& i = *own.impl_;
  own.spans.clear();
  own.done = {};
  i.last = last;
  if (first == kPyramid) {
    own.add(DeviceSpan::Kind::upload, first, "upload",
            i.input.upload(i.queue, w.frame, i.octaves, i.pyramid.frame_stride()));
  } else {
    own.add(DeviceSpan::Kind::upload, first, "upload", i.product(first - 1).to_device());
  }
  for (std::size_t stage = first; stage < last; ++stage) {
    if (stage != kPyramid && !s.exact) break;
    enqueue_stage(s, own, i, w.frame, stage);
  }
  opencl::Event downloaded;
  if (!s.exact) {
    downloaded = float_method::enqueue(s, own, i);
  } else if (last > kClassify) {
    downloaded =
        i.queue.read(i.found, i.found_staging.data(), (std::min(i.capacity, kFirstCapacity) + 1) * 16);
  } else {
    opencl::SharedBuffer& product = i.product(last - 1);
    downloaded = product.to_host();
    w.buffer_after(last - 1).bind(product.host());
  }
  own.add(DeviceSpan::Kind::download, last - 1, "download", downloaded);
  own.done = std::move(downloaded);
  i.queue.flush();
}

void OpenClStages::complete(DeviceSlot& slot, Workspace& workspace) const {
  auto& w = static_cast<FilterbankWorkspace&>(workspace);
  OpenClSlot::Impl& i = *static_cast<OpenClSlot&>(slot).impl_;
  if (i.last <= kClassify) return;
  if (!impl_->exact) {
    float_method::complete(*impl_, i, w);
  } else {
    read_candidates(*impl_, i, w);
  }
}

void OpenClStages::run(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  prepare(slot, workspace, supported());
  submit(slot, workspace, kPyramid, kVerify);
  slot.impl_->queue.wait(slot.done);
  complete(slot, workspace);
  for (const std::size_t stage : {kVerify, kGroup}) impl_->detector->run_stage(stage, workspace);
}

void OpenClStages::download(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  const Impl& s = *impl_;
  OpenClSlot::Impl& i = *slot.impl_;
  const auto fetch = [&](const opencl::SharedBuffer& from, InterStageBuffer& to) {
    to.bind(nullptr);
    i.queue.wait(i.queue.read(from.device(), to.data(), to.bytes()));
  };
  fetch(i.images, workspace.images);
  workspace.bind_images();
  if (!s.exact) {
    float_method::download(s, i, workspace);
    return;
  }
  fetch(i.response_map, workspace.response_map);
  fetch(i.features, workspace.features);
  workspace.bind_response_maps();
  workspace.bind_features();
  std::vector<std::int32_t> scores(i.scores_count);
  i.queue.wait(i.queue.read(i.scores, scores.data(), bytes_of(scores)));
  if (s.detector->pre_rejects()) {
    std::vector<std::int32_t> estimates(i.scores_count);
    i.queue.wait(i.queue.read(i.estimates, estimates.data(), bytes_of(estimates)));
    for (std::size_t k = 0; k < scores.size(); ++k) {
      if (estimates[k] < s.detector->rejection_threshold()) scores[k] = kRejected;
    }
  }
  for (std::size_t l = 0; l < i.levels.size(); ++l) {
    Level& level = workspace.levels[l];
    std::copy_n(scores.data() + i.levels[l].scores_offset,
                static_cast<std::ptrdiff_t>(level.grid.pitch()) * level.windows_y, level.scores.data());
  }
}

}  // namespace sightline::filterbank
