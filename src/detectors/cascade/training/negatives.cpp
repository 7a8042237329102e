#include "detectors/cascade/training/negatives.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "training/for_each_image.hpp"

namespace sightline::cascade {
namespace {

constexpr std::size_t kFewestPictures = 512;
constexpr std::int64_t kChoice = 4;  // windows to choose one of
constexpr std::size_t kPartOfOnePicture = 16;
constexpr std::size_t kKeptBytes = std::size_t{256} << 20;  // cache of window pixels

// The detector refuses a model without stages, so it is replaced by one that passes everything.
Model without_end(const Model& model) {
  Model result = model;
  if (!model.stages.empty()) return result;
  result.stages = {{0, 1, -1}};
  result.trees = {{0, 1, 0}};
  result.nodes = {{0, 0, 0, -1}};
  result.leaves = {0, 0};
  if (model.kind == FeatureKind::lbp) {
    result.subsets.assign(kSubsetWords, 0);
    result.lbp = {{0, 0, 1, 1}};
  } else {
    result.haar = {HaarFeature{{Rect{0, 0, 2, 1}, Rect{1, 0, 1, 1}}, {-1, 2, 0}}};
  }
  return result;
}

}  // namespace

// The windows with the lowest numbers, over all threads.
class Negatives::Lowest {
 public:
  explicit Lowest(std::size_t most) : most_(most) {}

  /// Numbers from here on are no use.
  double limit() const { return limit_.load(std::memory_order_relaxed); }

  void add(std::vector<Window> some) {
    const std::lock_guard lock(mutex_);
    std::move(some.begin(), some.end(), std::back_inserter(windows_));
    if (windows_.size() >= 2 * most_) drop_others();
  }

  std::vector<Window> take() {
    drop_others();
    std::sort(windows_.begin(), windows_.end());
    return std::move(windows_);
  }

 private:
  void drop_others() {
    if (windows_.size() <= most_) return;
    const auto end = windows_.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(windows_.begin(), end, windows_.end());
    limit_ = end->number;
    windows_.erase(end, windows_.end());
  }

  std::size_t most_;
  std::mutex mutex_;
  std::vector<Window> windows_;
  std::atomic<double> limit_{1};
};

Negatives::Negatives(const training::ImageSet& pictures, const FeaturePool& pool,
                     const TrainingOptions& options)
    : pictures_(pictures),
      pool_(pool),
      options_(options),
      capacity_(kKeptBytes / (static_cast<std::size_t>(options.window.width) *
                              static_cast<std::size_t>(options.window.height))) {}

FoundNegatives Negatives::draw(const Model& model, int round, training::ProgressClock& clock) {
  const auto wanted = static_cast<std::size_t>(options_.windows);
  if (!keeps_all_) {
    const bool all = would_all_fit();
    std::vector<Window> found = search(model, round, all ? capacity_ : wanted, all, clock);
    keeps_all_ = all && std::cmp_equal(found.size(), last_.passed);
    if (!keeps_all_) return first(found);
    kept_ = std::move(found);
    return first(kept_);
  }
  for (Window& w : kept_)
    w.number = training::window_number(options_.seed, round, w.picture, w.place.level, w.place.x, w.place.y);
  std::sort(kept_.begin(), kept_.end());
  last_.passed = static_cast<std::int64_t>(kept_.size());
  return first(kept_);
}

void Negatives::add(const TrainedStage& stage) {
  last_ = stage.negatives;
  if (!keeps_all_) return;
  std::vector<char> passes(kept_.size());
  constexpr std::size_t kPart = 64 * kTogether;
  parallel_for_isolated((kept_.size() + kPart - 1) / kPart, [&](std::size_t part) {
    const std::size_t begin = part * kPart, end = std::min(begin + kPart, kept_.size());
    training::WindowSamples pixels(options_.window);
    for (std::size_t i = begin; i < end; ++i)
      pixels.add(
          {kept_[i].pixels.data(), options_.window.width, options_.window.height, options_.window.width});
    SampleIntegrals integrals(pool_.kind, options_.window, pool_.has_tilted);
    integrals.assign(pixels);
    std::vector<double> sums(end - begin);
    for (const Stump& stump : stage.stumps) {
      const std::vector<char> left = goes_left(stump, pool_, integrals);
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += static_cast<double>(left[i] != 0 ? stump.left : stump.right);
    }
    for (std::size_t i = begin; i < end; ++i)
      passes[i] = sums[i - begin] >= static_cast<double>(stage.threshold) ? 1 : 0;
  });
  std::size_t next = 0;
  std::erase_if(kept_, [&](const Window&) { return passes[next++] == 0; });
}

// Going by the search before, which passed more.
bool Negatives::would_all_fit() const {
  if (last_.pictures == 0) return false;
  const double share = static_cast<double>(pictures_.size()) / static_cast<double>(last_.pictures);
  return static_cast<double>(last_.passed) * share <= static_cast<double>(capacity_);
}

// Numbers of pictures, so that no folder comes first.
std::vector<std::size_t> Negatives::order_of(int round) const {
  std::vector<std::pair<double, std::size_t>> numbers(pictures_.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = {training::window_number(options_.seed, round, i, 0, 0, -1), i};
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::size_t> order(numbers.size());
  std::transform(numbers.begin(), numbers.end(), order.begin(), [](const auto& n) { return n.second; });
  return order;
}

// Windows of one picture with the lowest numbers, below a limit.
std::vector<Negatives::Window> Negatives::windows_of(CascadeWorkspace& w, std::size_t picture, int round,
                                                     std::size_t most, double limit) const {
  std::vector<Window> windows;
  for (const Survivor& s : w.survivors) {
    const double number = training::window_number(options_.seed, round, picture, s.level, s.x, s.y);
    if (number < limit) windows.push_back({number, picture, s, {}});
  }
  if (windows.size() > most) {
    std::nth_element(windows.begin(), windows.begin() + static_cast<std::ptrdiff_t>(most), windows.end());
    windows.resize(most);
  }
  for (Window& one : windows) {
    const auto image = w.image(one.place.level);
    for (int y = one.place.y; y < one.place.y + options_.window.height; ++y) {
      const std::uint8_t* const row = image.row(y) + one.place.x;
      one.pixels.insert(one.pixels.end(), row, row + options_.window.width);
    }
  }
  return windows;
}

// @param most  requested number of windows
// @param all   search every picture and take all its windows
std::vector<Negatives::Window> Negatives::search(const Model& model, int round, std::size_t most, bool all,
                                                 training::ProgressClock& clock) {
  Options options;
  options.search.scale_step = options_.scale_step;
  const CascadeDetector detector(without_end(model), options);
  const std::vector<std::size_t> order = order_of(round);
  const std::size_t of_one_picture = all ? most : std::max<std::size_t>(most / kPartOfOnePicture, 1);
  Lowest lowest(most);
  std::atomic<std::int64_t> windows{0}, passed{0};
  const auto search_picture = [&](std::size_t i, Workspace& workspace) {
    auto& w = static_cast<CascadeWorkspace&>(workspace);
    const Image<std::uint8_t> picture = pictures_.load(order[i]);
    if (!detector.prepare(w, PictureView(picture.view()))) return;
    for (const StageIndex stage : {kPyramid, kIntegral, kScan}) detector.run_stage(stage, w);
    for (const Level& level : w.layout.levels)
      windows += static_cast<std::int64_t>(level.windows.width) * level.windows.height;
    passed += static_cast<std::int64_t>(w.survivors.size());
    lowest.add(windows_of(w, order[i], round, of_one_picture, lowest.limit()));
  };
  const auto is_enough = [&](std::size_t done) {
    return !all && done >= kFewestPictures && passed >= kChoice * static_cast<std::int64_t>(most);
  };
  last_.pictures = static_cast<std::int64_t>(training::for_each_image(
      pictures_.size(), clock, [&] { return detector.make_workspace(); }, search_picture, is_enough));
  last_.windows = windows;
  last_.passed = passed;
  return lowest.take();
}

// Returns the requested number of negatives.
FoundNegatives Negatives::first(const std::vector<Window>& windows) const {
  FoundNegatives found(options_.window);
  const std::size_t count = std::min(windows.size(), static_cast<std::size_t>(options_.windows));
  for (std::size_t i = 0; i < count; ++i)
    found.samples.add(
        {windows[i].pixels.data(), options_.window.width, options_.window.height, options_.window.width});
  found.counts = last_;
  return found;
}

}  // namespace sightline::cascade
