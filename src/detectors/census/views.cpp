#include "detectors/census/views.hpp"

#include <utility>

#include "base/error.hpp"

namespace sightline::census {
namespace {

CodeSet turned_once(const CodeSet& codes) {
  CodeSet result{};
  for (int code = 0; code < kCensusCodes; ++code) {
    if (!contains(codes, code)) continue;
    const int to = turned_census_code(code);
    result[to / 8] = static_cast<std::uint8_t>(result[to / 8] | 1U << to % 8);
  }
  return result;
}

}  // namespace

std::vector<WeakClassifier> turned(std::vector<WeakClassifier> weak, Size window, int quarters) {
  for (WeakClassifier& one : weak) {
    for (int i = 0; i < quarters; ++i) {
      const int x = one.x;
      one.x = one.y;
      one.y = static_cast<std::uint8_t>(window.width - kCensusSide * one.cell - x);
      one.codes = turned_once(one.codes);
    }
  }
  return weak;
}

Model with_turned_views(const Model& model) {
  constexpr const char* kNames[] = {"", " left", " upside down", " right"};
  constexpr int kPositions = static_cast<int>(std::size(kNames));
  if (model.window.width != model.window.height)
    throw Error(ExitCode::usage, "cannot turn the views: the window is not square", "leave out 'turned'");
  if (model.views.size() * kPositions > kMaxViews || model.stages.size() * kPositions > kMaxStages ||
      model.weak.size() * kPositions > kMaxWeakClassifiers)
    throw Error(ExitCode::usage, "cannot turn the views: the model is too large", "leave out 'turned'");
  Model result = model;
  for (int quarters = 1; quarters < kPositions; ++quarters) {
    const auto weak = turned(model.weak, model.window, quarters);
    result.weak.insert(result.weak.end(), weak.begin(), weak.end());
    for (Stage stage : model.stages) {
      stage.end += quarters * static_cast<int>(model.weak.size());
      result.stages.push_back(stage);
    }
    for (View view : model.views) {
      view.name += kNames[quarters];
      view.end += quarters * static_cast<int>(model.stages.size());
      result.views.push_back(view);
    }
    result.survivors.insert(result.survivors.end(), model.survivors.begin(), model.survivors.end());
  }
  return result;
}

}  // namespace sightline::census
