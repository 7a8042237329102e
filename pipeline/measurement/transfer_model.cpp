#include "pipeline/measurement/transfer_model.hpp"

#include <utility>
#include <vector>

namespace sightline::pipeline {

TransferModel transfer_model(const characterisation::Characteristics& device) {
  const auto curve_of = [&](const char* id) {
    std::vector<std::pair<double, double>> points;
    if (const characterisation::Curve* const curve = device.curve(id)) {
      for (const characterisation::Point& point : curve->points) {
        if (const double rate = 1e9 * curve->best(point); rate > 0)
          points.emplace_back(point.x, point.x / rate);
      }
    }
    return TransferCurve(std::move(points));
  };
  return {curve_of("transfer.pinned.up"), curve_of("transfer.pinned.down")};
}

}  // namespace sightline::pipeline
