#include "training/registry.hpp"

#include <map>
#include <string_view>

namespace sightline {

namespace filterbank {
std::unique_ptr<Trainer> make_trainer();
std::unique_ptr<WindowScorer> make_window_scorer();
}  // namespace filterbank
namespace waldboost {
std::unique_ptr<Trainer> make_trainer();
}
namespace census {
std::unique_ptr<Trainer> make_trainer();
}
namespace cascade {
std::unique_ptr<Trainer> make_trainer();
}
namespace landmarks {
std::unique_ptr<training::StandaloneTrainer> make_trainer();
}
namespace recognition {
std::unique_ptr<training::StandaloneTrainer> make_trainer();
}

namespace {

std::map<std::string_view, MakeTrainer*>& trainers() {
  static std::map<std::string_view, MakeTrainer*> all{{"filterbank", filterbank::make_trainer},
                                                      {"waldboost", waldboost::make_trainer},
                                                      {"census", census::make_trainer},
                                                      {"cascade", cascade::make_trainer}};
  return all;
}

}  // namespace

void add_trainer(const Family& family, MakeTrainer* make) {
  trainers()[family.info().name] = make;
}

std::unique_ptr<Trainer> make_trainer(const Family& family) {
  const auto found = trainers().find(family.info().name);
  return found == trainers().end() ? nullptr : found->second();
}

std::unique_ptr<WindowScorer> make_window_scorer(const Family& family) {
  return family.info().name == "filterbank" ? filterbank::make_window_scorer() : nullptr;
}

std::vector<std::unique_ptr<training::StandaloneTrainer>> make_standalone_trainers() {
  std::vector<std::unique_ptr<training::StandaloneTrainer>> all;
  all.push_back(landmarks::make_trainer());
  all.push_back(recognition::make_trainer());
  return all;
}

}  // namespace sightline
