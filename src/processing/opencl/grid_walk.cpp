#include "processing/opencl/grid_walk.hpp"

#include <map>
#include <utility>

namespace sightline {

GridPlace walk_downhill(std::span<const std::size_t> sizes, std::vector<std::size_t> start,
                        const std::function<double(const std::vector<std::size_t>&)>& cost, double worth,
                        double enough) {
  std::map<std::vector<std::size_t>, double> known;
  const auto cost_of = [&](const std::vector<std::size_t>& place) {
    const auto found = known.find(place);
    return found != known.end() ? found->second : known[place] = cost(place);
  };
  GridPlace here{std::move(start), 0};
  here.cost = cost_of(here.place);
  if (here.cost > enough) return here;
  for (;;) {
    GridPlace lowest = here;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      for (const bool up : {false, true}) {
        if (up ? here.place[axis] + 1 == sizes[axis] : here.place[axis] == 0) continue;
        GridPlace next = here;
        next.place[axis] += up ? 1 : std::size_t(-1);
        next.cost = cost_of(next.place);
        if (next.cost < lowest.cost) lowest = std::move(next);
      }
    }
    if (lowest.cost >= here.cost * (1 - worth)) return lowest;
    here = std::move(lowest);
  }
}

}  // namespace sightline
