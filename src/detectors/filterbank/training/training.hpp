#pragma once
/// Training of filter-bank models: dictionary, window classifier, hard negatives.
///
/// Method: see M. Dikmen's thesis (UIUC) for the descriptor; spherical k-medoids for the dictionary; a linear
/// SVM (see train_svm) on the 8-bit features that the detector computes; then
/// rounds in which all negatives are scanned and windows above `hard_threshold` are added ("hard negatives").

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "detectors/filterbank/model.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"

namespace sightline::filterbank {

/// Selection of the patches that a dictionary is learned from.
enum class PatchSampling {
  contrast,  ///< with probability proportional to their contrast
  uniform,   ///< all alike, but for flat ones
};

struct TrainingOptions {
  std::string label = "person";
  WindowShape window;
  Box object{12.3, 16, 39.4, 96};  ///< the object inside the window: 16 px margin, width 0.41 x height
  /// Sizes of the model, in filters, ascending. A dictionary of the largest is learned and ordered; the
  /// smaller sizes take its first filters.
  std::vector<int> filters{100};
  Descriptor descriptor;
  PatchSampling sampling = PatchSampling::contrast;
  int patches = 1'000'000;     ///< patches for learning the dictionary
  int dictionary_rounds = 15;  ///< k-medoids iterations
  int epsilon = 0;             ///< added to a block's sum before it is normalised
  ClassifierKind classifier = ClassifierKind::linear;
  int templates = 16;           ///< templates of the distance classifier
  double cost = 1.0;            ///< C of the support vector machine
  int jittered_copies = 0;      ///< copies of each positive: see training::jitter
  int occluded_copies = 0;      ///< the same, partly hidden: see training::occlude
  int augmented_negatives = 0;  ///< copies of each negative picture: see training::AugmentedNegatives
  int random_negatives = 8;     ///< windows a negative picture, at random
  int rounds = 2;               ///< rounds of hard negatives
  int hard_negatives = 20;      ///< windows a negative picture and round, the hardest
  double hard_threshold = -0.8;
  double scale_step = 1.2;  ///< scale step of the scan of negatives
  double threshold = 0;     ///< lowest reported score of the model
  std::uint64_t seed = 1;
  std::string provenance;  ///< description of the pictures, stored in the model
};

/// Trains a model in all the sizes of `options.filters`; the result is ascending, as save_models takes it.
/// Deterministic: same pictures in the same order, options and seed give the same model, stopped and resumed
/// or not, on any number of threads. A size does not depend on which smaller ones are trained along with it.
///
/// @param state   a folder for finished steps (made if it does not exist); training resumes from what is
///                there when it was made with the same options and pictures, and otherwise starts afresh
/// Throws TrainingStopped where `report` asks to stop, and Error (input) where the pictures do not do.
std::vector<Model> train(const training::ImageSet& positives, const training::ImageSet& negatives,
                         const TrainingOptions& options, const std::filesystem::path& state,
                         const training::ReportProgress& report);

/// Similarity of patches: |cos|, or cos, where a patch and its negative are opposites.
enum class Similarity { magnitude, value };

/// Learns `count` unit-length zero-mean filters by spherical k-medoids. `patches` are unit-length and
/// zero-mean. `progress` gets the fraction done and returns false to stop. This and the following functions
/// exist for FloatFilter and LargeFilter.
template <typename Patch>
std::vector<Patch> learn_dictionary(const std::vector<Patch>& patches, int count, int rounds,
                                    std::uint64_t seed, const std::function<bool(double)>& progress,
                                    Similarity kind = Similarity::magnitude);

/// The same filters in an order in which the first n are a good dictionary for every n: each filter is the
/// one that, with those before it, gives the largest sum of max similarity over an even sample of the
/// patches; the lowest index wins a tie.
template <typename Patch>
std::vector<Patch> order_filters(const std::vector<Patch>& filters, const std::vector<Patch>& patches,
                                 Similarity kind = Similarity::magnitude);

/// Draws patches, `count` in all over all `images`, with probability proportional to their contrast
/// ||p - mean|| or, uniformly, from all whose contrast is at least 1; returned with mean removed and unit
/// length.
template <typename Patch>
std::vector<Patch> sample_patches(const training::ImageSet& images, int count, PatchSampling sampling,
                                  std::uint64_t seed, const std::function<bool(double)>& progress);

/// The window descriptors of one class, eight bits a feature, one after the other.
struct Samples {
  std::size_t features = 0;  ///< a window
  std::vector<std::uint8_t> values;

  /// From window to window: features, and zeros up to a multiple of 16 bytes.
  std::size_t stride() const { return (features + 15) / 16 * 16; }
  std::size_t size() const { return features == 0 ? 0 : values.size() / stride(); }
  void resize(std::size_t count) { values.resize(count * stride()); }
  const std::uint8_t* operator[](std::size_t i) const { return values.data() + i * stride(); }
  std::span<std::uint8_t> operator[](std::size_t i) { return {values.data() + i * stride(), features}; }
};

/// A linear separator: `weights . (feature / 255 * 0.1) + bias`, positive for positives.
struct Separator {
  std::vector<double> weights;
  double bias = 0;
};

/// A linear support vector machine with L2 loss and a bias term that is regularised like the weights, solved
/// in its dual by coordinate descent with shrinking (C.-J. Hsieh et al., "A Dual Coordinate Descent Method
/// for Large-scale Linear SVM", ICML 2008), as LIBLINEAR does it, but on dense features of eight bits: a
/// hundred thousand windows then fit into memory. As there, it stops after a pass over all windows in which
/// the largest and the smallest projected gradient are no more than 0.01 apart, or after 1000 passes. The
/// same bits on every machine. `tick` is called between passes.
Separator train_svm(const Samples& positives, const Samples& negatives, double cost, unsigned seed,
                    const std::function<void()>& tick);

/// Rounds a separator's weights to integers within +-kMaxWeight; fills `weights`, `bias` and `scale` of the
/// model.
void quantise_separator(const Separator& separator, Model& model);

}  // namespace sightline::filterbank
