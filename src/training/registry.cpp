#include "training/registry.hpp"

// Detector families that have a trainer: each is a folder with a function make_trainer().
#define SIGHTLINE_TRAINERS(FAMILY) \
  FAMILY(filterbank)               \
  FAMILY(waldboost)                \
  FAMILY(census)                   \
  FAMILY(cascade)

namespace sightline {

#define SIGHTLINE_DECLARE(folder)          \
  namespace folder {                       \
  std::unique_ptr<Trainer> make_trainer(); \
  }
SIGHTLINE_TRAINERS(SIGHTLINE_DECLARE)
#undef SIGHTLINE_DECLARE
namespace filterbank {
std::unique_ptr<WindowScorer> make_window_scorer();
}
namespace landmarks {
std::unique_ptr<training::StandaloneTrainer> make_trainer();
}
namespace recognition {
std::unique_ptr<training::StandaloneTrainer> make_trainer();
}

std::unique_ptr<Trainer> make_trainer(const Family& family) {
#define SIGHTLINE_MAKE(folder) \
  if (family.info().name == #folder) return folder::make_trainer();
  SIGHTLINE_TRAINERS(SIGHTLINE_MAKE)
#undef SIGHTLINE_MAKE
  return nullptr;
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
