#pragma once
/// Accuracy against speed of detectors in several settings, as tables and as a picture.

#include <span>
#include <string>
#include <vector>

namespace sightline {

/// A detector in one setting, measured.
struct TradeOff {
  std::string family;     ///< one colour in the picture: "--exact", "OpenCV HOG"
  std::string line;       ///< points of a family with the same one are joined: "100 filters"; may be empty
  double scale_step = 0;  ///< ratio of neighbouring scales, above 1
  std::string variant;    ///< what else was tried, for the best to be taken; may be empty
  double rate = 0;        ///< frames/s: the median of the repetitions; 0: not measured
  double slowest = 0;     ///< frames/s of the slowest repetition
  double fastest = 0;
  double miss_rate = 0;    ///< log-average over false positives a frame, above 0
  std::string label = {};  ///< what the picture calls the line; empty: as it is
};

/// Its family, line and variant: "--exact, 100 filters".
std::string name_of(const TradeOff& measured);

/// Where in `measured` the best of each group stands that differs in the variant only: the one that misses
/// least (equal: the first). In the order of the groups' first members.
std::vector<std::size_t> best_variants(std::span<const TradeOff> measured);

/// A row for each, with the header
/// `family,line,scale_step,variant,frames_per_second,slowest,fastest,log_average_miss_rate`; speeds that were
/// not measured are left empty.
std::string trade_offs_as_csv(std::span<const TradeOff> measured);

/// A row for each, all with their speeds: frames/s and miss rate. Rates are also put as multiples of the
/// family `baseline` at the same step, where it is there.
std::string trade_offs_as_markdown(std::span<const TradeOff> measured, const std::string& baseline);

/// A plot of miss rate against frames/s, both logarithmic: a colour for each family, a kind of mark for each
/// scale step, lines through neighbouring points of a line. All with their speeds. A picture of its own: no
/// fonts, styles or scripts from elsewhere; colours that colour-blind readers can tell apart.
/// @param captions  lines below the plot: what was measured on what
std::string trade_offs_as_svg(std::span<const TradeOff> measured, const std::string& title,
                              const std::vector<std::string>& captions);

}  // namespace sightline
