#pragma once
/// Results of a sweep, as a page.

#include <span>
#include <string>
#include <vector>

#include "evaluation/curves.hpp"
#include "evaluation/decisions.hpp"
#include "evaluation/report.hpp"
#include "training/trainer.hpp"

namespace sightline::apps {

/// A model of a sweep and how good it is.
struct SweptModel {
  double value = 0;  ///< of the option
  std::string file;
  std::string detector;                       ///< what it says of itself
  Decisions decisions;                        ///< pictures with objects told from those without
  NamedCurve curve;                           ///< objects: miss rate per image
  std::vector<PrecisionRecallPoint> objects;  ///< likewise

  double objects_f1() const {
    const PrecisionRecallPoint* const best = best_by_f1(objects);
    return best ? f1_score(best->precision, best->recall) : 0;
  }
};

/// A page of HTML that needs no other file, network or script.
/// @param best    one of the models
/// @param judged  the pictures they were judged on, for people
std::string sweep_page(const SweptOption& swept, std::span<const SweptModel> models, const SweptModel& best,
                       std::span<const std::string> judged);

}  // namespace sightline::apps
