// Kernels of a detector on a device: building them, and what of the model they read.
#include "detectors/filterbank/opencl/stages.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "image/lbp.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::filterbank {
namespace {

using opencl::define;
using opencl::define_if;
using opencl::define_variant;

constexpr int kWeightPad = 16;  // weights a (block x, quad): BY_PAD in the kernel
constexpr int kDictionaryEntry = 12;
constexpr std::size_t kFirstCandidates = 4096;  // initial capacity, and number read with the count
constexpr std::size_t kFirstVerified = 512;     // number read with the count

}  // namespace

OpenClSlot::OpenClSlot(const OpenClStages& stages)
    : OpenClSlotBase(stages),
      pyramid(stages.pyramid_),
      found(kFirstCandidates, kFirstCandidates),
      peaks(kFirstCandidates, kFirstCandidates),
      verified(kFirstCandidates, kFirstVerified) {
  const auto take = [](const opencl::Program& program, const char* name) {
    return opencl::Kernel(program, name);
  };
  const bool exact = stages.exact_;
  filter = take(exact ? stages.filter_ : stages.float_method_, "filter");
  histogram = take(exact ? stages.histogram_ : stages.float_method_, "histogram");
  normalise = take(exact ? stages.normalise_ : stages.float_method_, "normalise");
  classify = take(exact ? stages.classify_ : stages.float_method_, "classify");
  if (!exact) return;
  block_energies = take(stages.classify_, "block_energies");
  keep_nearest = take(stages.classify_, "keep_nearest");
  subtract_energies = take(stages.classify_, "subtract_energies");
  if (stages.detector_->pre_rejects()) {
    project = take(stages.classify_, "project");
    estimate = take(stages.classify_, "estimate");
  }
  candidates = take(stages.candidates_, "candidates");
  has_list(found, kCandidates);
  if (!stages.verifies_) return;
  find_peaks = take(stages.candidates_, "peaks");
  verify = take(stages.verify_, "verify");
  has_list(peaks);
  has_list(verified, kVerified);
}

OpenClStages::OpenClStages(const FilterbankDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : OpenClStagesOf(detector, context, cache, {kPyramid, kFilter, kHistogram, kClassify}),
      detector_(&detector),
      tuning_(tuning) {
  if (!detector.info().cpu_only.empty())
    throw Error(ExitCode::usage, detector.info().cpu_only, "use --device=none"_message);
  const Model& model = detector.model();
  bins_ = round_up(model.bins(), 4);
  patterns_ = round_up(model.descriptor.pattern_bins(), 4);
  exact_ = detector.options().arithmetic == Arithmetic::exact;
  list(kCandidates);
  pyramid_ = opencl::OctavePyramid::build(context, cache);
  if (!exact_) {
    // The float method's buffers have another layout on the device than on the CPU.
    device_only(kImages, &FilterbankWorkspace::images);
    device_only(kResponses, &FilterbankWorkspace::response_map);
    device_only(kFeatures, &FilterbankWorkspace::features);
    build_float();
    return;
  }
  if (model.window.blocks_y() > kWeightPad) {
    throw Error(
        ExitCode::model,
        "windows higher than " + std::to_string((kWeightPad + 1) * kCell) + " pixels run on the CPU only",
        "use --device=none"_message);
  }
  buffer(kImages, &FilterbankWorkspace::images);
  buffer(kResponses, &FilterbankWorkspace::response_map);
  buffer(kFeatures, &FilterbankWorkspace::features);
  settle();
  build();
  upload_model();
  if (detector.verifies()) build_verify();
}

// Sets parameters that the device or the variant determines.
void OpenClStages::settle() {
  const opencl::DeviceInfo& device = context().device();
  KernelTuning& t = tuning_;
  const auto one_pixel = [](const std::string& variant) {
    return variant == "plain" || variant == "unrolled";
  };
  if (one_pixel(t.filter)) t.filter_width = t.filter_rows = 1;
  if (one_pixel(t.classify)) t.classify_width = t.classify_rows = 1;
  const auto histogram_bytes = [&] {  // a bin's sum, and a scale
    return static_cast<std::size_t>(t.histogram_cells) *
           ((bins_ + patterns_) * sizeof(cl_int) + sizeof(cl_float));
  };
  while (histogram_bytes() > device.local_memory_bytes && t.histogram_cells > 1) t.histogram_cells /= 2;
  const std::string best_dot = device.is_nvidia() ? "ptx" : device.integer_dot_product ? "khr" : "integer";
  // The instructions for dot products take one window of the classifier's.
  if (t.dot == "auto") t.dot = t.classify_width == 1 ? best_dot : "integer";
  if (t.network_dot == "auto") t.network_dot = best_dot;
  if (device.largest_work_group > 0)
    t.network_group = static_cast<int>(std::min<std::uint64_t>(t.network_group, device.largest_work_group));
}

void OpenClStages::build() {
  const KernelTuning& t = tuning_;
  const Model& model = detector_->model();
  const std::string bins = define("BINS", bins_) + define("PATTERN_BINS", patterns_);
  const std::string pre_rejection =
      detector_->pre_rejects()
          ? " -DPRE_REJECTION" + define("RANK", PreRejection::kRank) + define("SHIFT", PreRejection::kShift)
          : "";
  filter_ = program("filterbank/filter.cl", define_if(model.descriptor.contrast_sensitive(), "SIGNS_APART") +
                                                define_if(model.descriptor.patterns, "PATTERNS") +
                                                define("FILTERS", model.dictionary.size()) +
                                                define("V", t.filter_width) + define("ROWS", t.filter_rows) +
                                                define_variant("VARIANT", t.filter));
  histogram_ = program("filterbank/histogram.cl",
                       bins + define("CELLS", t.histogram_cells) + define_variant("VARIANT", t.histogram));
  normalise_ = program("filterbank/normalise.cl", bins + define("V", t.normalise_width) +
                                                      define("EPSILON", model.epsilon) +
                                                      define_variant("VARIANT", t.normalise));
  classify_ =
      program("filterbank/classify.cl",
              bins + define("V", t.classify_width) + define("ROWS", t.classify_rows) +
                  define("BLOCKS_X", model.window.blocks_x()) + define("BLOCKS_Y", model.window.blocks_y()) +
                  define_variant("VARIANT", t.classify) + define_variant("DOT", t.dot) + pre_rejection);
  candidates_ = program("filterbank/candidates.cl", pre_rejection);
}

void OpenClStages::upload_model() {
  const Model& model = detector_->model();
  opencl::Queue queue(context());
  std::vector<float> dictionary(static_cast<std::size_t>(model.dictionary.size()) * kDictionaryEntry, 0.0F);
  for (int k = 0; k < model.dictionary.size(); ++k) {
    float* entry = dictionary.data() + k * kDictionaryEntry;
    for (int i = 0; i < kTaps; ++i) entry[i] = model.dictionary.filters()[k][i];
    entry[kTaps] = static_cast<float>(model.descriptor.contrast_sensitive() ? 254 - 2 * k : 255 - k);
  }
  dictionary.insert(dictionary.end(), kUniformLbp.begin(), kUniformLbp.end());
  upload(queue, dictionary_, dictionary);

  for (int t = 0; t < model.templates(); ++t) {
    const PackedWeights& weights = detector_->packed_weights(t);
    const int words = model.window.blocks_x() * weights.quads();  // a row of blocks
    std::vector<cl_int> packed(static_cast<std::size_t>(words) * kWeightPad, 0);
    for (int by = 0; by < model.window.blocks_y(); ++by) {
      const std::int32_t* row = weights.row(by);
      for (int i = 0; i < words; ++i) packed[static_cast<std::size_t>(i) * kWeightPad + by] = row[i];
    }
    upload(queue, weights_.emplace_back(), packed);
    energies_.push_back(detector_->template_energy(t));
  }

  if (!detector_->pre_rejects()) return;
  const PreRejection& low_rank = detector_->pre_rejection();
  upload(queue, rejection_basis_, low_rank.basis());
  std::vector<cl_int> unpacked;
  for (int k = 0; k < model.window.blocks() * PreRejection::kPairs; ++k) {
    const std::int32_t pair = low_rank.weights().row(0)[k];
    unpacked.push_back(static_cast<std::int16_t>(pair & 0xFFFF));
    unpacked.push_back(pair >> 16);
  }
  upload(queue, rejection_weights_, unpacked);
}

void OpenClStages::download(OpenClSlot& slot, FilterbankWorkspace& workspace) const {
  read_back(slot, workspace, kImages);
  workspace.bind_images();
  if (!exact_) {
    download_float(slot, workspace);
    return;
  }
  read_back(slot, workspace, kResponses);
  read_back(slot, workspace, kFeatures);
  workspace.bind_response_maps();
  workspace.bind_features();
  std::vector<std::int32_t> scores(static_cast<std::size_t>(slot.sizes.scores));
  slot.queue.wait(slot.queue.read(slot.scores, scores.data(), opencl::bytes_of(scores)));
  if (detector_->pre_rejects()) {
    std::vector<std::int32_t> estimates(scores.size());
    slot.queue.wait(slot.queue.read(slot.estimates, estimates.data(), opencl::bytes_of(estimates)));
    for (std::size_t k = 0; k < scores.size(); ++k) {
      if (estimates[k] < detector_->rejection_threshold()) scores[k] = kRejected;
    }
  }
  for (std::size_t l = 0; l < slot.levels.size(); ++l) {
    Level& level = workspace.levels[l];
    std::copy_n(scores.data() + slot.levels[l].scores_offset,
                static_cast<std::ptrdiff_t>(level.grid.pitch()) * level.windows_y, level.scores.data());
  }
}

std::unique_ptr<DeviceStages> FilterbankDetector::make_stages_on(
    std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  return std::make_unique<StagesOnDevice<OpenClStages>>(
      *this, opened, best_tuning(opened->device(), model_.dictionary.size()));
}

}  // namespace sightline::filterbank
