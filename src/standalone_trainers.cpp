#include "standalone_trainers.hpp"

#include "landmarks/tools.hpp"
#include "recognition/tools.hpp"

namespace sightline {

std::vector<std::unique_ptr<training::StandaloneTrainer>> make_standalone_trainers() {
  std::vector<std::unique_ptr<training::StandaloneTrainer>> all;
  all.push_back(landmarks::make_trainer());
  all.push_back(recognition::make_trainer());
  return all;
}

}  // namespace sightline
