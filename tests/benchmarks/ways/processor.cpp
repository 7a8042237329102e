// Plain code and SIMD.
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <memory>

#include "base/hardware.hpp"
#include "base/parallel.hpp"
#include "detectors/filterbank/kernels.hpp"
#include "made_up.hpp"
#include "ways/simd.hpp"
#include "ways/way.hpp"

namespace sightline::ways {
using filterbank::kTaps;
using filterbank::round_up;

namespace {

const std::vector<Form> kAllForms(std::begin(kForms), std::end(kForms));
constexpr int kBandRows = 16;  // of a task

struct Level {
  const char* option;
  const char* name;
};

bool has(const std::string& option) {
  const std::vector<std::string> sets = instruction_sets();
  return std::find(sets.begin(), sets.end(), option) != sets.end();
}

Way plain(const std::string& name, const std::string& instruction_set, PlainRows* rows, Loops loops) {
  Way way{name, instruction_set, Arithmetic::floating, kAllForms, {}, false, true};
  way.prepare = [rows, loops](const Problem& problem, Form form, int threads, Result& result) {
    const GrayView image = problem.image.view();
    PlainWork work{image.data(),
                   image.stride(),
                   image.width(),
                   problem.filters.data(),
                   problem.transposed.data(),
                   problem.dictionary.size(),
                   result.floats.data(),
                   result.indices.data(),
                   problem.pitch()};
    return run_rows([=](int begin, int end) { rows(work, loops, form, begin, end); }, image.height(),
                    threads);
  };
  return way;
}

Way simd_float(const std::string& instruction_set) {
  Way way{"SIMD, float", instruction_set, Arithmetic::floating, kAllForms, {}, false, true};
  way.prepare = [](const Problem& problem, Form form, int threads, Result& result) {
    const GrayView image = problem.image.view();
    const Results<float> to{result.floats.data(), result.indices.data(), problem.pitch()};
    if (form == Form::largest || form == Form::every) {
      return run_rows([&problem, image, form, to](
                          int begin, int end) { simd_rows(image, problem.dictionary, form, begin, end, to); },
                      image.height(), threads);
    }
    const auto largest =
        form == Form::value ? filterbank::ResponseMode::value : filterbank::ResponseMode::magnitude;
    return run_rows(
        [&problem, image, largest, to](int begin, int end) {
          filterbank::filter_rows_float(
              image, problem.dictionary, largest, begin, end,
              ImageView<float>(to.responses, image.width(), image.height(), to.pitch),
              ImageView<std::uint8_t>(to.indices, image.width(), image.height(), to.pitch));
        },
        image.height(), threads);
  };
  return way;
}

// The library's own filter of integers, whose responses and indices share words.
Run packed_run(const Problem& problem, int threads, Result& result) {
  const GrayView image = problem.image.view();
  const auto map = std::make_shared<Image<std::uint32_t>>();
  map->resize(image.width(), image.height());
  Run run = run_rows(
      [&problem, image, map](int begin, int end) {
        filterbank::filter_rows(image, problem.dictionary, filterbank::ContrastMode::insensitive, begin, end,
                                map->view());
      },
      image.height(), threads);
  run.fetch = [&problem, map, &result] {
    for (int y = 0; y < problem.size.height; ++y) {
      for (int x = 0; x < problem.size.width; ++x) {
        const std::uint32_t packed = map->view().at(x, y);
        const std::ptrdiff_t at = y * problem.pitch() + x;
        result.integers[at] = static_cast<std::int32_t>(filterbank::response_magnitude(packed));
        result.indices[at] = static_cast<std::uint8_t>(filterbank::response_bin(packed));
      }
    }
  };
  return run;
}

Way simd_exact(const std::string& instruction_set) {
  Way way{"SIMD, exact 8-bit", instruction_set, Arithmetic::exact, kAllForms, {}, false, true};
  way.prepare = [](const Problem& problem, Form form, int threads, Result& result) {
    if (form == Form::magnitude) return packed_run(problem, threads, result);
    const GrayView image = problem.image.view();
    const Results<std::int32_t> to{result.integers.data(), result.indices.data(), problem.pitch()};
    return run_rows([&problem, image, form, to](
                        int begin, int end) { simd_rows(image, problem.dictionary, form, begin, end, to); },
                    image.height(), threads);
  };
  return way;
}

}  // namespace

Problem::Problem(Size frame, int count)
    : size(frame),
      image(benchmarks::made_up_frame(frame)),
      dictionary(benchmarks::made_up_dictionary(150).first(count)),
      transposed(static_cast<std::size_t>(round_up(count, kGroup)) * kTaps, 0.0F) {
  for (int k = 0; k < count; ++k) {
    for (int i = 0; i < kTaps; ++i) {
      const float c = dictionary.reference()[k][i];
      filters.push_back(c);
      transposed[(static_cast<std::size_t>(k / kGroup) * kTaps + i) * kGroup + k % kGroup] = c;
    }
  }
}

std::ptrdiff_t Problem::pitch() const {
  return round_up(size.width, 64);
}

double Problem::bytes(Form form, Arithmetic arithmetic) const {
  const double pixels = static_cast<double>(size.width) * size.height;
  if (form == Form::every) return pixels * dictionary.size() * 4;
  if (form == Form::largest || (form == Form::magnitude && arithmetic == Arithmetic::exact))
    return pixels * 4;
  return pixels * 5;
}

Result::Result(const Problem& problem, Form form, Arithmetic arithmetic) {
  const std::size_t pixels = static_cast<std::size_t>(problem.pitch()) * problem.size.height;
  const std::size_t responses =
      (form == Form::every ? pixels * static_cast<std::size_t>(problem.dictionary.size()) : pixels) + 64;
  if (arithmetic == Arithmetic::floating) {
    floats.resize(responses);
    std::fill_n(floats.data(), responses, -1e9F);
  } else {
    integers.resize(responses);
    std::fill_n(integers.data(), responses, -1);
  }
  indices.resize(pixels + 64);
  std::fill_n(indices.data(), pixels + 64, std::uint8_t{255});
}

std::string Way::title() const {
  if (instruction_set.empty()) return name;
  const std::vector<std::pair<std::string, std::string>> names{
      {"sse4", "SSE4"}, {"avx2", "AVX2"}, {"avx512", "AVX-512"}, {"avx512-vnni", "AVX-512 VNNI"}};
  for (const auto& [option, text] : names) {
    if (option == instruction_set) return name + ", " + text;
  }
  return name + ", " + instruction_set;
}

Run run_rows(std::function<void(int, int)> rows, int height, int threads) {
  Run run;
  if (threads == 1) {
    run.frame = [rows = std::move(rows), height] { rows(0, height); };
    return run;
  }
  const auto arena = std::make_shared<oneapi::tbb::task_arena>(threads);
  run.frame = [rows = std::move(rows), height, arena] {
    arena->execute([&] {
      parallel_for_isolated((height + kBandRows - 1) / kBandRows, [&](int band) {
        rows(band * kBandRows, std::min((band + 1) * kBandRows, height));
      });
    });
  };
  return run;
}

std::vector<Way> processor_ways() {
  std::vector<Way> ways;
  ways.push_back(plain("plain, not vectorised", "", unvectorised::rows, Loops::published));
#if defined(__x86_64__)
  if (has("avx2"))
    ways.push_back(plain("plain, not vectorised, FMA", "", unvectorised_fma::rows, Loops::published));
  const struct {
    const char* set;
    PlainRows* rows;
  } builds[] = {
      {"sse4", vectorised_sse4::rows}, {"avx2", vectorised_avx2::rows}, {"avx512", vectorised_avx512::rows}};
#else
  const struct {
    const char* set;
    PlainRows* rows;
  } builds[] = {{"", vectorised_sse4::rows}};
#endif
  const struct {
    const char* name;
    Loops loops;
  } orders[] = {{"vectorised, as published", Loops::published},
                {"vectorised, filters side by side", Loops::transposed},
                {"vectorised, pixels side by side", Loops::pixels}};
  for (const auto& order : orders) {
    for (const auto& build : builds) {
      if (*build.set == '\0' || has(build.set))
        ways.push_back(plain(order.name, build.set, build.rows, order.loops));
    }
  }
  for (const char* set : {"sse4", "avx2", "avx512", "neon"}) {
    if (has(set)) ways.push_back(simd_float(set));
  }
  for (const char* set : {"sse4", "avx2", "avx512", "avx512-vnni", "neon"}) {
    if (has(set)) ways.push_back(simd_exact(set));
  }
  return ways;
}

}  // namespace sightline::ways
