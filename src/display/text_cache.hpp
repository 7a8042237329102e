#pragma once
/// Rasterised text, kept between frames within a bound.

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "drawing/canvas.hpp"

namespace sightline::display {

/// The size of text in pixels, and its weight.
struct Font {
  int size = 12;
  bool bold = false;
};

/// Splits text into runs, digits and punctuation between them one by one, so that changing numbers are
/// composed of cached runs. Keeps the most recently used runs. Thread-safety: one thread at a time.
class TextCache {
 public:
  /// Limits of the cache: runs, and bytes of coverage (a single larger run is kept alone).
  static constexpr std::size_t kMaxRuns = 1024, kMaxBytes = std::size_t{4} << 20;

  struct Run {
    TextMask mask;
    std::shared_ptr<void> texture;  ///< the renderer's copy of the mask, made by the screen
  };

  /// Calls `draw(run, x)` for each run of the text in order, `x` pixels from its start. A run is valid during
  /// the call.
  template <typename Draw>
  void for_each_run(std::string_view text, const Font& font, Draw draw) {
    double pen = 0;
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t length = first_run(rest);
      Run& run = run_of(rest.substr(0, length), font);
      draw(run, static_cast<int>(pen + 0.5));
      pen += run.mask.advance;
      rest.remove_prefix(length);
    }
  }
  /// Pixels from the start to where the next letter would be.
  int width(std::string_view text, const Font& font);
  /// The text, or as much of it as fits into `limit` pixels with an ellipsis behind; empty if not even
  /// that fits.
  std::string fit(std::string_view text, const Font& font, int limit);

  std::size_t runs() const { return order_.size(); }
  std::size_t bytes() const { return bytes_; }
  void clear();

 private:
  using Key = std::tuple<int, bool, std::string>;
  using View = std::tuple<int, bool, std::string_view>;
  struct Entry {
    Key key;
    Run run;
  };
  using Cut = std::tuple<int, bool, int, std::string>;
  static constexpr std::size_t kMaxCuts = 256;
  std::string cut_off(std::string_view text, const Font& font, int limit);
  static std::size_t first_run(std::string_view text);
  Run& run_of(std::string_view text, const Font& font);

  std::list<Entry> order_;  // last used first
  std::map<View, std::list<Entry>::iterator> index_;
  std::size_t bytes_ = 0;
  std::map<Cut, std::string> cuts_;  // results of `fit`
};

}  // namespace sightline::display
