#pragma once
/// Boosting of one stage (B. Froeba and A. Ernst, "Face Detection with the Modified Census Transform", FG
/// 2004): AdaBoost over positions in the window. The weak classifier of a position accepts the codes in which
/// the objects have the greater weight; the position with the lowest error is selected.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "detectors/census/model.hpp"
#include "training/window_samples.hpp"

namespace sightline::census {

/// Every sample's code at every place of a window: of each side of cells place after place, in rows.
class CodeTable {
 public:
  /// @param cells  sides of the cells that codes compare
  explicit CodeTable(Size window, std::span<const int> cells = kPixels);
  int places() const { return static_cast<int>(places_.size()); }
  /// A position as a weak classifier without weight and codes.
  const WeakClassifier& place(int place) const { return places_[static_cast<std::size_t>(place)]; }
  std::size_t samples() const { return samples_; }

  /// Replaces the content with the samples' codes; on all threads.
  void assign(const training::WindowSamples& samples);
  std::span<const std::uint16_t> codes(int place) const {
    return {codes_.data() + static_cast<std::size_t>(place) * samples_, samples_};
  }
  int code(std::size_t sample, int x, int y, int cell = 1) const {
    return codes(first_[cell - 1] + y * (window_.width - kCensusSide * cell + 1) + x)[sample];
  }

 private:
  static constexpr int kPixels[] = {1};
  Size window_;
  std::vector<WeakClassifier> places_;
  std::array<int, kMostCell> first_{};  // place of each side of cells
  std::size_t samples_ = 0;
  std::vector<std::uint16_t> codes_;
};

/// A weak classifier before its weight is a whole number.
struct BoostedWeak {
  int place = 0;
  double error = 0;  ///< share of the weights that it gets wrong
  double alpha = 0;  ///< 1/2 ln((1 - error) / error)
  CodeSet codes{};   ///< codes seldom seen in objects
};

/// When a stage is done.
struct StageBudget {
  int places = 10;  ///< different ones
  int weak = 1000;  ///< weak classifiers, which may share places
};

/// Boosts a stage. Each class starts with half of the weight; samples of weight 0 are ignored. Ends early if
/// the classes are separated.
/// @param seen  objects that are alive: 1, others 0
/// @param step  called with the number of weak classifiers so far
std::vector<BoostedWeak> boost_stage(const CodeTable& positives, std::span<const char> alive,
                                     const CodeTable& negatives, const StageBudget& budget,
                                     const std::function<void(int)>& step);

/// The sums of alphas of samples.
std::vector<double> sums_of(const std::vector<BoostedWeak>& stage, const CodeTable& samples);

/// The stage in whole numbers, appended to a model, with the threshold that loses the given share of objects
/// that are alive. Sums of short stages up to the threshold fit bytes.
/// @return the unit of the weights
double append_stage(Model& model, const std::vector<BoostedWeak>& stage, const CodeTable& held_out,
                    std::span<const char> alive, double loss);

}  // namespace sightline::census
