#include "cascade/training/negatives.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "cascade/detector.hpp"
#include "training/for_each_image.hpp"

namespace sightline::cascade {
namespace {

constexpr std::size_t kFewestPictures = 512;
constexpr std::int64_t kChoice = 4;  // windows to choose one of
constexpr std::size_t kPartOfOnePicture = 16;

// The detector takes no model without stages: one that passes everything stands for it.
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

// A window that may be drawn.
struct Drawn {
  double number = 0;  // those with the lowest are
  std::size_t picture = 0;
  Survivor window;
  std::vector<std::uint8_t> pixels;

  auto key() const { return std::tuple(number, picture, window.level, window.y, window.x); }
};
bool operator<(const Drawn& a, const Drawn& b) {
  return a.key() < b.key();
}

// The lowest-numbered windows of all that threads offer.
class Draw {
 public:
  explicit Draw(std::size_t wanted) : wanted_(wanted) {}

  /// Numbers from here on are no use.
  double limit() const { return limit_.load(std::memory_order_relaxed); }

  void add(std::vector<Drawn> some) {
    const std::lock_guard lock(mutex_);
    std::move(some.begin(), some.end(), std::back_inserter(drawn_));
    if (drawn_.size() >= 2 * wanted_) drop_others();
  }

  std::vector<Drawn> take() {
    drop_others();
    std::sort(drawn_.begin(), drawn_.end());
    return std::move(drawn_);
  }

 private:
  void drop_others() {
    if (drawn_.size() <= wanted_) return;
    const auto end = drawn_.begin() + static_cast<std::ptrdiff_t>(wanted_);
    std::nth_element(drawn_.begin(), end, drawn_.end());
    limit_ = end->number;
    drawn_.erase(end, drawn_.end());
  }

  std::size_t wanted_;
  std::mutex mutex_;
  std::vector<Drawn> drawn_;
  std::atomic<double> limit_{1};
};

// Numbers of pictures in an order that puts no folder first.
std::vector<std::size_t> shuffled(std::size_t count, const NegativeSearch& search) {
  std::vector<std::pair<double, std::size_t>> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = {training::window_number(search.seed, search.round, i, 0, 0, -1), i};
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::size_t> order(count);
  std::transform(numbers.begin(), numbers.end(), order.begin(), [](const auto& n) { return n.second; });
  return order;
}

// Those of a picture's windows that may be drawn.
std::vector<Drawn> draw_of(CascadeWorkspace& w, std::size_t picture, Size window,
                           const NegativeSearch& search, double limit) {
  std::vector<Drawn> drawn;
  for (const Survivor& s : w.survivors) {
    const double number = training::window_number(search.seed, search.round, picture, s.level, s.x, s.y);
    if (number < limit) drawn.push_back({number, picture, s, {}});
  }
  const std::size_t most = std::max<std::size_t>(search.wanted / kPartOfOnePicture, 1);
  if (drawn.size() > most) {
    std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(most), drawn.end());
    drawn.resize(most);
  }
  for (Drawn& one : drawn) {
    const auto image = w.image(one.window.level);
    for (int y = one.window.y; y < one.window.y + window.height; ++y)
      one.pixels.insert(one.pixels.end(), image.row(y) + one.window.x,
                        image.row(y) + one.window.x + window.width);
  }
  return drawn;
}

}  // namespace

FoundNegatives search_negatives(const training::ImageSet& pictures, const Model& model,
                                const NegativeSearch& search, training::ProgressClock& clock) {
  Options options;
  options.search.scale_step = search.scale_step;
  const CascadeDetector detector(without_end(model), options);
  const std::vector<std::size_t> order = shuffled(pictures.size(), search);
  Draw draw(search.wanted);
  std::atomic<std::int64_t> windows{0}, passed{0};
  const auto search_picture = [&](std::size_t i, Workspace& workspace) {
    auto& w = static_cast<CascadeWorkspace&>(workspace);
    const Image<std::uint8_t> picture = pictures.load(order[i]);
    if (!detector.prepare(w, PictureView(picture.view()))) return;
    for (const StageIndex stage : {kPyramid, kIntegral, kScan}) detector.run_stage(stage, w);
    for (const Level& level : w.layout.levels)
      windows += static_cast<std::int64_t>(level.windows.width) * level.windows.height;
    passed += static_cast<std::int64_t>(w.survivors.size());
    draw.add(draw_of(w, order[i], model.window, search, draw.limit()));
  };
  const auto is_enough = [&](std::size_t done) {
    return done >= kFewestPictures && passed >= kChoice * static_cast<std::int64_t>(search.wanted);
  };
  FoundNegatives found(model.window);
  found.pictures = training::for_each_image(
      pictures.size(), clock, [&] { return detector.make_workspace(); }, search_picture, is_enough);
  found.windows = windows;
  found.passed = passed;
  for (const Drawn& one : draw.take())
    found.samples.add({one.pixels.data(), model.window.width, model.window.height, model.window.width});
  return found;
}

}  // namespace sightline::cascade
