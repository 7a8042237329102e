// Ways of programming the filter bank's filter stage, side by side, after the comparison of E. Totoni,
// M. Dikmen and M. J. Garzaran ("Easy, Fast and Energy Efficient Object Detection on Heterogeneous On-Chip
// Architectures", section 4): plain code with and without the compiler's vectorisation, SIMD of each
// instruction set in float and in exact 8-bit arithmetic, OpenCL, and OpenCV's filter2D for each filter.
//
//   bench_ways [--sizes WxH,...] [--filters N,...] [--threads N] [--device DEVICE] [--ways TEXT] [--seconds
//   S]
//              [--svg FILE]
//
// Each way's result is compared with plain scalar code in double precision before it is timed. One thread:
// the least processor time of several frames. All threads: the least time by the clock; other programs
// disturb it. A GPU's times are the kernel's alone, and its share of the peak is of its own. `--ways OpenCL`
// measures ways with this in their name alone. The first size and number of filters is the picture's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/parallel.hpp"
#include "characterisation/peak.hpp"
#include "evaluation/report.hpp"
#include "opencl/device.hpp"
#include "ways/check.hpp"
#include "ways/tables.hpp"

namespace sightline::ways {
namespace {

struct Arguments {
  std::vector<Size> sizes{{600, 416}, {768, 576}};
  std::vector<int> filters{100, 70, 150};
  int threads = hardware_threads();
  std::string device = "cpu", ways, svg;
  double seconds = 0.3;  ///< that a way is timed for at least
};

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw Error(ExitCode::usage, "'" + name + "' needs a value");
    const std::string value = argv[i + 1];
    const auto bad = [&] { return Error(ExitCode::usage, "'" + name + " " + value + "' is not understood"); };
    if (name == "--device") {
      a.device = value;
    } else if (name == "--ways") {
      a.ways = value;
    } else if (name == "--svg") {
      a.svg = value;
    } else if (name == "--seconds") {
      a.seconds = std::atof(value.c_str());
    } else if (name == "--threads") {
      a.threads = std::max(std::atoi(value.c_str()), 1);
    } else if (name == "--filters") {
      a.filters.clear();
      for (const std::string& part : parts_of(value)) {
        a.filters.push_back(std::atoi(part.c_str()));
        if (a.filters.back() < 1 || a.filters.back() > 150) throw bad();
      }
    } else if (name == "--sizes") {
      a.sizes.clear();
      for (const std::string& part : parts_of(value)) {
        Size size;
        if (std::sscanf(part.c_str(), "%dx%d", &size.width, &size.height) != 2 || size.width < 1 ||
            size.height < 1)
          throw bad();
        a.sizes.push_back(size);
      }
    } else {
      throw Error(ExitCode::usage, "'" + name + "' is not understood");
    }
  }
  return a;
}

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}
double clock_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The least of several frames, five at least.
double least_ms(const Run& run, int threads, double seconds) {
  double best = 1e9;
  const double start = clock_ms();
  for (int i = 0; i < 5 || clock_ms() - start < 1e3 * seconds; ++i) {
    const double before = threads == 1 ? processor_ms() : clock_ms();
    run.frame();
    const double taken = (threads == 1 ? processor_ms() : clock_ms()) - before;
    best = std::min(best, run.device_ms ? run.device_ms() : taken);
  }
  return best;
}

// Checked, then timed. Throws Error (failed) where the result is wrong.
double measured_ms(const Way& way, const Problem& problem, const Expected& expected, Form form, int threads,
                   double seconds, Times& times, int& other_indices) {
  Result result(problem, form, way.arithmetic);
  const Run run = way.prepare(problem, form, threads, result);
  if (run.peak > 0) times.own_peak = run.peak;
  run.frame();
  run.fetch();
  int others = 0;
  const std::string fault = expected.fault(result, form, way.arithmetic, others);
  if (!fault.empty()) throw Error(ExitCode::failed, "'" + way.title() + "' is wrong: " + fault);
  other_indices = std::max(other_indices, others);
  return least_ms(run, threads, seconds);
}

// Of one thread in the way's own instruction set and arithmetic; nine taps are eight elements of dot
// products.
double own_peak(const Way& way) {
  if (way.instruction_set.empty()) return 0;
  const double dots = way.arithmetic == Arithmetic::exact ? characterisation::peak_dot_products() : 0;
  return dots > 0 ? dots * 9 / 8 : characterisation::peak_multiply_adds();
}

Times times_of(const Way& way, const Problem& problem, const Expected& expected, const Arguments& a) {
  limit_instruction_set(way.instruction_set.empty() ? "best" : way.instruction_set);
  Times times;
  times.title = way.title();
  times.arithmetic = way.arithmetic;
  times.picture = way.picture;
  times.on_gpu = way.on_gpu;
  times.own_peak = own_peak(way);
  int others = 0;
  for (const Form form : way.forms) {
    times.form_ms[static_cast<int>(form)] =
        measured_ms(way, problem, expected, form, way.on_gpu ? a.threads : 1, a.seconds, times, others);
  }
  if (!way.on_gpu && a.threads > 1)
    times.threads_ms =
        measured_ms(way, problem, expected, Form::magnitude, a.threads, a.seconds, times, others);
  if (others > 0)
    std::fprintf(stderr, "%s: %d of %d indices are other ones, of responses as large but for rounding\n",
                 way.title().c_str(), others, problem.size.width * problem.size.height);
  limit_instruction_set("best");
  return times;
}

// ms that storing so many bytes takes at least, one thread: the same value everywhere, in order.
double store_ms(double bytes) {
  AlignedBuffer<float> memory(static_cast<std::size_t>(bytes / 4));
  Run run;
  run.frame = [&] { std::fill_n(memory.data(), memory.size(), static_cast<float>(memory.size())); };
  return least_ms(run, 1, 0.3);
}

// What operations and bytes alone would take, before anything is measured.
void print_bounds(const Problem& problem, double peak, double dots) {
  const double every = problem.bytes(Form::every, Arithmetic::floating);
  std::printf("%.1f million multiply-adds: %.2f ms at the float peak", 1e-6 * problem.multiply_adds(),
              1e3 * problem.multiply_adds() / peak);
  if (dots > 0)
    std::printf(", %.2f ms at that of 8-bit dot products", 1e3 * problem.multiply_adds() / (dots * 9 / 8));
  std::printf(
      ".\nStored a frame: %.2f MB with an index, %.2f without, %.1f of every response (%.1f ms to store "
      "alone).\n\n",
      1e-6 * problem.bytes(Form::magnitude, Arithmetic::floating),
      1e-6 * problem.bytes(Form::largest, Arithmetic::floating), 1e-6 * every, store_ms(every));
  std::fflush(stdout);
}

std::vector<Way> all_ways(const Arguments& a) {
  std::vector<Way> ways = processor_ways();
  const auto append = [&](std::vector<Way> more) {
    ways.insert(ways.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  if (a.device != "none") {
    for (const opencl::ChosenDevice& chosen :
         opencl::choose_devices(opencl::parse_device_choices(a.device), opencl::list_devices()))
      append(opencl_ways(chosen.device));
  }
  append(opencv_ways());
  std::erase_if(ways, [&](const Way& way) { return way.title().find(a.ways) == std::string::npos; });
  if (ways.empty()) throw Error(ExitCode::usage, "'--ways " + a.ways + "' names no way");
  return ways;
}

void run(const Arguments& a) {
  const std::vector<Way> ways = all_ways(a);
  const double peak = characterisation::peak_multiply_adds();
  const double dots = characterisation::peak_dot_products();
  const std::string machine =
      cpu_name() + ", " + instruction_set() + ", " + std::to_string(hardware_threads()) + " threads";
  std::printf("%s; one thread: %.1f float GMAC/s, %.1f 8-bit GMAC/s\n\n", machine.c_str(), 1e-9 * peak,
              1e-9 * dots);
  bool first = true;
  for (const Size size : a.sizes) {
    for (const int filters : a.filters) {
      const Problem problem(size, filters);
      const Expected expected(problem);
      print_bounds(problem, peak, dots);
      Yardstick yardstick{machine,
                          std::to_string(size.width) + "x" + std::to_string(size.height) + ", " +
                              std::to_string(filters) + " filters",
                          problem.multiply_adds(),
                          peak,
                          a.threads,
                          0,
                          0};
      std::vector<Times> times;
      for (const Way& way : ways) times.push_back(times_of(way, problem, expected, a));
      if (times.front().title.starts_with("plain")) yardstick.scalar_ms = times.front().ms();
      if (times.back().title.starts_with("OpenCV")) yardstick.opencv_ms = times.back().ms();
      std::printf("%s\n", table(times, yardstick).c_str());
      std::fflush(stdout);
      if (first && !a.svg.empty()) write_report(a.svg, picture(times, yardstick));
      first = false;
    }
  }
}

}  // namespace
}  // namespace sightline::ways

int main(int argc, char** argv) {
  try {
    sightline::ways::run(sightline::ways::parse(argc, argv));
    return 0;
  } catch (const sightline::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
