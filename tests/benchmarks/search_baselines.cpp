#include "search_baselines.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/error.hpp"
#include "base/median.hpp"
#include "opencl/program.hpp"
#ifdef SIGHTLINE_NANOFLANN
#include <nanoflann.hpp>
#endif

namespace sightline::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::size_t nearest_by_plain_code(const PlainTemplates& templates, std::span<const std::uint8_t> query) {
  std::size_t nearest = 0;
  std::uint32_t least = ~0U;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    std::uint32_t sum = 0;
    for (std::size_t d = 0; d < templates.dims; ++d) {
      const int apart = templates.values[i * templates.dims + d] - query[d];
      sum += static_cast<std::uint32_t>(apart * apart);
    }
    if (sum < least) nearest = i, least = sum;
  }
  return nearest;
}

// Templates may be equal: then any of them is right.
void check_nearest(const PlainTemplates& templates, std::span<const std::uint8_t> query, std::size_t found) {
  const auto of = [&](std::size_t i) {
    return templates.values.begin() + static_cast<std::ptrdiff_t>(i * templates.dims);
  };
  const std::size_t right = nearest_by_plain_code(templates, query);
  const auto length = static_cast<std::ptrdiff_t>(templates.dims);
  if (found >= templates.size() || !std::equal(of(found), of(found) + length, of(right)))
    throw Error(ExitCode::failed, "a baseline finds another template");
}

#ifdef SIGHTLINE_NANOFLANN
// As nanoflann wants a set of points.
struct Points {
  const PlainTemplates& templates;

  std::size_t kdtree_get_point_count() const { return templates.size(); }
  std::uint8_t kdtree_get_pt(std::size_t i, std::size_t d) const {
    return templates.values[i * templates.dims + d];
  }
  template <typename Box>
  bool kdtree_get_bbox(Box& /*box*/) const {
    return false;
  }
};

// Squared distances of whole numbers; the sum stops where it is beyond the nearest so far.
struct SquaredDistance {
  using ElementType = std::uint8_t;
  using DistanceType = std::int64_t;

  const Points& points;
  explicit SquaredDistance(const Points& all) : points(all) {}

  DistanceType evalMetric(const std::uint8_t* query, std::size_t i, std::size_t dims,
                          DistanceType worst = -1) const {
    const std::uint8_t* const other = points.templates.values.data() + i * dims;
    DistanceType sum = 0;
    for (std::size_t start = 0; start < dims; start += 256) {
      std::uint32_t part = 0;
      for (std::size_t d = start; d < std::min(start + 256, dims); ++d) {
        const int apart = query[d] - other[d];
        part += static_cast<std::uint32_t>(apart * apart);
      }
      sum += part;
      if (worst > 0 && sum > worst) break;
    }
    return sum;
  }
  template <typename A, typename B>
  DistanceType accum_dist(A a, B b, std::size_t /*dimension*/) const {
    const auto apart = static_cast<DistanceType>(a) - static_cast<DistanceType>(b);
    return apart * apart;
  }
};
#endif

constexpr const char* kPairs = R"(
kernel void pairs(global const uchar* restrict templates, int count, int dims, global const uchar* restrict query,
                  global uint* restrict distances) {
  const int i = get_global_id(0);
  if (i >= count) return;
  uint sum = 0;
  for (int d = 0; d < dims; ++d) {
    const int apart = (int)templates[(size_t)d * count + i] - query[d];
    sum += apart * apart;
  }
  distances[i] = sum;
}
)";

}  // namespace

void run_kd_tree(const PlainTemplates& templates, std::span<const std::uint8_t> query, int repeats) {
#ifdef SIGHTLINE_NANOFLANN
  using Tree = nanoflann::KDTreeSingleIndexAdaptor<SquaredDistance, Points, -1, std::size_t>;
  const Points points{templates};
  const Clock::time_point start = Clock::now();
  Tree tree(static_cast<int>(templates.dims), points, nanoflann::KDTreeSingleIndexAdaptorParams(10));
  tree.buildIndex();
  const double built = milliseconds_since(start);
  std::vector<double> times;
  std::size_t found = 0;
  for (int i = 0; i < repeats; ++i) {
    std::int64_t distance = 0;
    const Clock::time_point begun = Clock::now();
    nanoflann::KNNResultSet<std::int64_t> result(1);
    result.init(&found, &distance);
    tree.findNeighbors(result, query.data(), nanoflann::SearchParams());
    times.push_back(milliseconds_since(begun));
  }
  check_nearest(templates, query, found);
  std::printf("  k-d tree, one thread: %8.3f ms; built in %.0f ms\n", median(times), built);
#else
  static_cast<void>(templates), static_cast<void>(query), static_cast<void>(repeats);
#endif
}

void run_pairs(opencl::Queue& queue, const opencl::Context& context, const PlainTemplates& templates,
               std::span<const std::uint8_t> query, int repeats) {
  // Dimension after dimension, so that neighbours read neighbouring bytes.
  std::vector<std::uint8_t> turned(templates.values.size());
  for (std::size_t i = 0; i < templates.size(); ++i) {
    for (std::size_t d = 0; d < templates.dims; ++d)
      turned[d * templates.size() + i] = templates.values[i * templates.dims + d];
  }
  const opencl::Program program(context, "characterisation/launch.cl", "", nullptr, kPairs);
  opencl::Kernel kernel(program, "pairs");
  const opencl::Buffer all(context, turned.size()), one(context, query.size()),
      distances(context, templates.size() * sizeof(cl_uint));
  queue.wait(queue.write(all, turned.data(), turned.size()));
  kernel.arguments(all, static_cast<cl_int>(templates.size()), static_cast<cl_int>(templates.dims), one,
                   distances);
  std::vector<cl_uint> sums(templates.size());
  std::vector<double> wall, kernels;
  std::size_t found = 0;
  for (int i = 0; i < repeats; ++i) {
    const Clock::time_point start = Clock::now();
    queue.write(one, query.data(), query.size());
    const opencl::Event ran = kernel.enqueue(queue, opencl::groups((templates.size() + 63) / 64, 64));
    queue.wait(queue.read(distances, sums.data(), sums.size() * sizeof(cl_uint)));
    found = static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
    wall.push_back(milliseconds_since(start));
    const opencl::Event::Times t = ran.times(context.name());
    kernels.push_back(1e-6 * static_cast<double>(t.ended - t.started));
  }
  check_nearest(templates, query, found);
  std::printf("  a pair a work-item: %8.4f ms of the kernel; %.3f ms in all\n", median(kernels),
              median(wall));
}

}  // namespace sightline::benchmarks
