// Contention between work-items: shared units, counters, branches; and the cost of a launch.
#include "characterisation/benchmarks.hpp"
#include "characterisation/knees.hpp"
#include "characterisation/programs.hpp"

namespace sightline::characterisation {
namespace {

constexpr int kMostWays = 32;
constexpr std::uint32_t kB = 12345, kC = 678;

std::uint32_t parallel_result(std::uint32_t item, std::uint64_t steps) {
  std::uint32_t a = item, b = kB, x = kC;
  for (std::uint64_t i = 0; i < steps; ++i) x += a, a += b, b += x;
  return x;
}

std::uint32_t way_result(std::uint32_t item, std::uint32_t way, int steps) {
  std::uint32_t x = item + 1;
  for (int i = 0; i < steps; ++i) x = (x ^ (x >> (1 + way % 15))) * (2 * way + 3);
  return x;
}

// The fixed amount of work of `parallelism`, for a varying number of work-items.
class FixedWork {
 public:
  explicit FixedWork(DeviceSession& session)
      : session_(session),
        steps_(session.is_cpu() ? 16 : 128),
        kernel_(session.kernel(side_by_side_program(session.device()), "parallelism")) {}

  std::size_t largest_group() const {
    return std::min<std::size_t>(session_.device().largest_work_group, kernel_.largest_work_group());
  }

  // Sets the number of turns so that the largest group takes as long as a few repeats.
  void set_length() {
    const std::size_t group = largest_group();
    const opencl::Buffer out(session_.context(), group * 4);
    turns_ = calibrate(
        session_.effort().of_curve(),
        [&](int turns) {
          kernel_.arguments(out, cl_int{turns}, cl_uint{kB}, cl_uint{kC});
          return session_.run(kernel_, opencl::groups(1, group));
        },
        4, 1 << 14);
    if (session_.is_cpu()) turns_ *= 4;  // a single work-item, too, has to take its time
  }

  Spread time(std::size_t groups, std::size_t group) {
    const std::size_t items = groups * group;
    const opencl::Buffer out(session_.context(), items * 4);
    kernel_.arguments(out, cl_int{turns_}, cl_uint{kB}, cl_uint{kC});
    const Spread seconds = repeat(session_.effort().of_curve(),
                                  [&] { return session_.run(kernel_, opencl::groups(groups, group)); });
    const std::vector<std::uint32_t> values = session_.read(out, items);
    for (const std::size_t item : {std::size_t{0}, items / 2, items - 1})
      require_result(values[item] == parallel_result(static_cast<std::uint32_t>(item),
                                                     static_cast<std::uint64_t>(turns_) * steps_),
                     "arithmetic side by side", session_.context());
    return each(seconds, 1, 1e-6);
  }

 private:
  DeviceSession& session_;
  int steps_;  // a turn
  opencl::Kernel kernel_;
  int turns_ = 4;
};

std::vector<std::size_t> counts(std::size_t most, bool fine, bool is_brief) {
  std::vector<std::size_t> all;
  for (std::size_t power = 1; power <= most; power *= is_brief ? 64 : 2) {
    for (std::size_t quarters = 4; quarters < 8; ++quarters) {
      const std::size_t count = power * quarters / 4;
      const bool is_wanted = quarters == 4 || (fine && !is_brief && power * quarters % 4 == 0);
      if (is_wanted && count <= most) all.push_back(count);
    }
  }
  if (all.back() != most) all.push_back(most);
  return all;
}

// Additions a second, to `spread` counters.
Spread time_atomics(DeviceSession& session, bool is_local, std::size_t spread) {
  opencl::Kernel kernel = session.kernel(kAtomicsProgram, is_local ? "atomics_local" : "atomics_global");
  const std::size_t group = session.usual_group();
  const std::size_t items = session.filling_items();
  const opencl::Buffer counters(session.context(), spread * 4);
  const auto seconds_of = [&](int rounds) {
    session.queue().wait(session.queue().fill(counters, 0, spread * 4));
    kernel.arguments(counters, static_cast<cl_uint>(spread), cl_int{rounds});
    return session.run(kernel, opencl::groups(items / group, group));
  };
  const int rounds = calibrate(session.effort(), seconds_of, 4, 1 << 16);
  const Spread seconds = repeat(session.effort(), [&] { return seconds_of(rounds); });
  std::uint32_t total = 0, expected = 0;
  for (const std::uint32_t value : session.read(counters, spread)) total += value;
  for (std::size_t item = 0; item < items; ++item)
    expected += (static_cast<std::uint32_t>(item & 3) + 1) * static_cast<std::uint32_t>(rounds);
  require_result(total == expected, "counting", session.context());
  return rate(seconds, static_cast<double>(items) * rounds);
}

}  // namespace

void measure_parallelism(DeviceSession& session, Characteristics& result) {
  FixedWork work(session);
  const std::size_t largest = work.largest_group();
  work.set_length();
  Curve group{"parallel.group",
              "Fixed work a work-item, by size of the work-group",
              "one work-group",
              "work-items",
              "us",
              Clock::device,
              false,
              {}};
  for (const std::size_t count : counts(largest, !session.is_cpu(), session.effort().is_brief()))
    group.points.push_back({static_cast<double>(count), work.time(1, count)});
  const std::size_t usual = session.usual_group();
  Curve groups{"parallel.groups",
               "Fixed work a work-item, by number of work-groups",
               "work-groups of " + std::to_string(usual),
               "work-groups",
               "us",
               Clock::device,
               false,
               {}};
  const auto units = static_cast<std::size_t>(std::max(session.device().compute_units, 1));
  for (const std::size_t count :
       counts(16 * units, !session.is_cpu() || session.effort().is_thorough(), session.effort().is_brief()))
    groups.points.push_back({static_cast<double>(count), work.time(count, usual)});
  const auto add = [&](const Curve& curve, const char* title) {
    const double knee = last_flat(samples_of(curve), 0.1);
    result.figures.push_back({curve.id + ".knee", title, "", Clock::device, false, {knee, knee, knee}});
  };
  add(group, "work-items of one group that take no longer than one");
  add(groups, "work-groups that take no longer than one");
  result.curves.push_back(std::move(group));
  result.curves.push_back(std::move(groups));
}

void measure_atomics(DeviceSession& session, Characteristics& result) {
  for (const bool is_local : {false, true}) {
    Curve curve{is_local ? "atomics.local" : "atomics.global",
                "Atomic additions, by number of counters",
                is_local ? "local memory" : "global memory",
                "counters",
                "G/s",
                Clock::device,
                true,
                {}};
    for (const std::size_t spread : {1, 4, 16, 64, 256, 1024})
      curve.points.push_back({static_cast<double>(spread), time_atomics(session, is_local, spread)});
    result.curves.push_back(std::move(curve));
  }
}

void measure_divergence(DeviceSession& session, Characteristics& result) {
  opencl::Kernel kernel = session.kernel(side_by_side_program(session.device()), "divergence");
  const std::size_t group = session.usual_group();
  const std::size_t items = session.filling_items();
  const opencl::Buffer out(session.context(), items * 4);
  Curve curve{"divergence",
              "Branches, by ways that neighbours go",
              "all work-items",
              "ways",
              "times one way",
              Clock::device,
              false,
              {}};
  int steps = 0;
  double one_way = 0;
  for (int ways = 1; ways <= kMostWays; ways *= 2) {
    const auto seconds_of = [&](int count) {
      kernel.arguments(out, cl_int{count}, static_cast<cl_uint>(ways));
      return session.run(kernel, opencl::groups(items / group, group));
    };
    if (steps == 0) steps = calibrate(session.effort().of_curve(), seconds_of, 16, 1 << 20);
    const Spread seconds = repeat(session.effort(), [&] { return seconds_of(steps); });
    const std::vector<std::uint32_t> values = session.read(out, items);
    for (const std::size_t item : {std::size_t{0}, items / 2 + 1, items - 1}) {
      const auto way = static_cast<std::uint32_t>(item % group % static_cast<std::size_t>(ways));
      require_result(values[item] == way_result(static_cast<std::uint32_t>(item), way, steps), "branches",
                     session.context());
    }
    if (ways == 1) one_way = seconds.median;
    curve.points.push_back({static_cast<double>(ways), each(seconds, 1, one_way)});
  }
  result.curves.push_back(std::move(curve));
}

Spread time_launch(DeviceSession& session) {
  opencl::Kernel nothing = session.kernel(kLaunchProgram, "nothing");
  nothing.arguments(cl_int{0});
  opencl::Queue& queue = session.queue();
  return repeat(session.effort(), [&] {
    return host_seconds([&] { queue.wait(nothing.enqueue(queue, {{1, 1, 1}, {1, 1, 1}})); });
  });
}

Spread time_launch_interval(DeviceSession& session) {
  opencl::Kernel nothing = session.kernel(kLaunchProgram, "nothing");
  nothing.arguments(cl_int{0});
  opencl::Queue& queue = session.queue();
  constexpr int kLaunches = 200;
  return each(repeat(session.effort(),
                     [&] {
                       return host_seconds([&] {
                         for (int i = 0; i < kLaunches; ++i) nothing.enqueue(queue, {{1, 1, 1}, {1, 1, 1}});
                         queue.finish();
                       });
                     }),
              kLaunches, 1);
}

void measure_launches(DeviceSession& session, Characteristics& result) {
  opencl::Queue& queue = session.queue();
  const auto multiple = static_cast<double>(session.kernel(kAccessProgram, "copy").work_group_multiple());
  result.figures.push_back(
      {"sub_group", "work-items of a sub-group", "", Clock::host, false, {multiple, multiple, multiple}});
  const auto add = [&](const char* id, const char* title, const Spread& seconds) {
    result.figures.push_back({id, title, "us", Clock::host, false, each(seconds, 1, 1e-6)});
  };
  add("launch.latency", "an empty kernel, until the host sees it done", time_launch(session));
  add("launch.interval", "empty kernels in a row, each", time_launch_interval(session));
  add("launch.event", "an event without a kernel, until the host sees it",
      repeat(session.effort(), [&] { return host_seconds([&] { queue.wait(queue.marker()); }); }));
}

}  // namespace sightline::characterisation
