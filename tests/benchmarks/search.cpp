// The nearest of many templates: milliseconds of a search on the CPU and on an OpenCL device, by the number
// of templates and of queries at once.
//
//   bench_search [--device DEVICE] [--threads N] [--templates N,N,...] [--photos FOLDER --landmarks FILE]
//                [--faces FILE] [--write FILE] [--kinds N] [--repeats N] [--queries N] [--slices N] [--unroll
//                N]
//                [--items N] [--baselines yes]
//
// Kinds of templates: histograms of faces (2,891 counts: made up, or of photos, or from a file of templates
// one after the other, as --write leaves them), the two longer ones of S. Tek's thesis (8,496 and 11,907
// counts, made up), counts at random, none of which is 0 (the worst case), and vectors of 512 bytes; `--kinds
// 3` measures the first three. Fewer faces than templates are repeated.
//
// CPU: the median of wall-clock and the least of processor time (which other programs disturb less). Device:
// the median of the kernels' times and of the time from handing queries over until matches are there. GB/s:
// of the rows that the first query has counts in, which is what a search must read; `read` is a plain pass
// over the same memory. Baselines: a k-d tree and a work-item a template (search_baselines.hpp). First each
// result is compared with the CPU's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/parallel.hpp"
#include "face_templates.hpp"
#include "faces/recognition/opencl/search.hpp"
#include "opencl/data.hpp"
#include "search_baselines.hpp"

namespace sightline::recognition {
namespace {

using Kind = TemplateFormat::Kind;
using Clock = std::chrono::steady_clock;
constexpr int kNearest = 5;

struct Arguments {
  std::string device = "none", photos, landmarks, faces, write;
  std::vector<int> templates{1000, 5000, 10'000, 20'000};
  int threads = hardware_threads();
  int repeats = 20;
  int kinds = 5;
  int queries = 0, slices = 0, unroll = 0, items = 0;
  bool has_baselines = false;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw Error(ExitCode::usage, "'" + name + "' needs a value");
    const std::string value = argv[i + 1];
    const std::map<std::string, std::string*> texts{{"--device", &a.device},
                                                    {"--photos", &a.photos},
                                                    {"--landmarks", &a.landmarks},
                                                    {"--faces", &a.faces},
                                                    {"--write", &a.write}};
    const std::map<std::string, int*> numbers{{"--threads", &a.threads}, {"--repeats", &a.repeats},
                                              {"--kinds", &a.kinds},     {"--queries", &a.queries},
                                              {"--slices", &a.slices},   {"--unroll", &a.unroll},
                                              {"--items", &a.items}};
    if (const auto text = texts.find(name); text != texts.end()) {
      *text->second = value;
    } else if (const auto number = numbers.find(name); number != numbers.end()) {
      *number->second = std::max(std::atoi(value.c_str()), 1);
    } else if (name == "--baselines") {
      a.has_baselines = value == "yes";
    } else if (name == "--templates") {
      a.templates.clear();
      for (std::size_t at = 0; at < value.size(); at = std::min(value.find(',', at), value.size() - 1) + 1)
        a.templates.push_back(std::max(std::atoi(value.c_str() + at), 1));
    } else {
      throw Error(ExitCode::usage, "'" + name + "' is not understood");
    }
  }
  return a;
}

using Faces = std::vector<std::vector<std::uint8_t>>;

Faces load_faces(const Arguments& a) {
  Faces faces;
  if (!a.faces.empty()) {
    std::ifstream file(a.faces, std::ios::binary);
    std::vector<char> bytes(benchmarks::kFaceValues);
    while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      faces.emplace_back(bytes.begin(), bytes.end());
  } else if (!a.photos.empty()) {
    faces = benchmarks::faces_of_photos(a.photos, a.landmarks, 8000);
  } else {
    faces = benchmarks::made_up_faces(2000, 1);
  }
  if (faces.empty()) throw Error(ExitCode::input, "there are no faces");
  if (!a.write.empty()) {
    std::ofstream file(a.write, std::ios::binary);
    for (const auto& face : faces)
      file.write(reinterpret_cast<const char*>(face.data()), static_cast<std::streamsize>(face.size()));
  }
  return faces;
}

Faces random_bytes(int count, int dims, int low) {
  std::mt19937 random(2);
  Faces all(static_cast<std::size_t>(count));
  for (auto& bytes : all) {
    for (int d = 0; d < dims; ++d)
      bytes.push_back(static_cast<std::uint8_t>(low + static_cast<int>(random() % (256U - low))));
  }
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
double ms(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}
// Of all threads of this process.
double processor_ms() {
  return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// A share of the set's bytes that a search for the query has to read.
double bytes_read(const TemplateSet& set, std::span<const std::uint8_t> query) {
  double rows = static_cast<double>(set.words());
  if (set.format().kind != Kind::vector8)
    rows -= static_cast<double>(std::count(query.begin(), query.end(), std::uint8_t{0}));
  return rows * static_cast<double>(set.word_bytes() * set.size());
}

// Seconds of a plain pass over a set's memory on all threads; the least of several.
double read_ms(const TemplateSet& set) {
  double best = 1e9;
  std::vector<std::uint64_t> sums(set.blocks());
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    parallel_for_isolated(set.blocks(), [&](std::size_t b) {
      std::uint64_t sum = 0;
      const auto* words = reinterpret_cast<const std::uint64_t*>(set.block(b));
      for (std::size_t w = 0; w < set.block_bytes() / 8; ++w) sum += words[w];
      sums[b] = sum;
    });
    best = std::min(best, ms(Clock::now() - start));
  }
  return best;
}

void run_cpu(const TemplateSet& set, const std::vector<std::uint8_t>& queries, std::size_t count,
             int repeats) {
  NearestSearch search;
  Matches matches;
  std::vector<double> wall, processor;
  for (int i = 0; i < repeats; ++i) {
    const double processor_start = processor_ms();
    const auto start = Clock::now();
    search.find(set, queries, kNearest, matches);
    wall.push_back(ms(Clock::now() - start));
    processor.push_back(processor_ms() - processor_start);
  }
  std::printf("  cpu     %zu at once: %8.3f ms (least %.3f; %.3f of processor time), %.1f GB/s\n", count,
              median(wall), *std::min_element(wall.begin(), wall.end()),
              *std::min_element(processor.begin(), processor.end()),
              bytes_read(set, std::span(queries).first(queries.size() / count)) / median(wall) * 1e-6);
}

class Device {
 public:
  Device(const opencl::ChosenDevice& chosen, const Arguments& a)
      : context_(chosen), queue_(context_), tuning_(default_search_tuning(context_.device())) {
    if (a.queries > 0) tuning_.queries = a.queries;
    if (a.slices > 0) tuning_.slices = a.slices;
    if (a.unroll > 0) tuning_.unroll = a.unroll;
    if (a.items > 0) tuning_.select_items = a.items;
  }

  // Builds the kernels of a format, once for all sets of it.
  void build(const TemplateFormat& format) {
    program_ = std::make_unique<SearchProgram>(context_, format, nullptr, tuning_);
  }
  void load(const TemplateSet& set) {
    templates_ = std::make_unique<DeviceTemplates>(context_);
    templates_->update(queue_, set);
  }

  void run(const TemplateSet& set, const std::vector<std::uint8_t>& queries, std::size_t count, int repeats) {
    DeviceSearch search(*program_, queue_);
    opencl::Buffer buffer(context_, queries.size());
    Matches matches;
    std::vector<double> wall, total;
    std::map<std::string, std::vector<double>> parts;
    for (int i = 0; i < repeats; ++i) {
      const auto start = Clock::now();
      queue_.write(buffer, queries.data(), queries.size());
      const opencl::Event done = search.enqueue(*templates_, buffer, count, kNearest);
      queue_.flush();
      queue_.wait(done);
      search.matches(matches);
      wall.push_back(ms(Clock::now() - start));
      std::map<std::string, double> times;
      for (const auto& step : search.steps()) {
        const opencl::Event::Times t = step.event.times(context_.name());
        times[step.name] += 1e-6 * static_cast<double>(t.ended - t.started);
      }
      double sum = 0;
      for (const auto& [name, time] : times) {
        parts[name].push_back(time);
        sum += time;
      }
      total.push_back(sum);
    }
    const Matches expected = nearest(set, queries, kNearest);
    std::printf("  device  %zu at once: %8.4f ms of kernels (", count, median(total));
    for (const auto& [name, times] : parts) std::printf("%s %.4f ", name.c_str(), median(times));
    const double distances = median(parts["distances"]);
    std::printf("), %.0f GB/s; %.3f ms in all; %s\n",
                bytes_read(set, std::span(queries).first(queries.size() / count)) / distances * 1e-6,
                median(wall), matches.all == expected.all ? "as on the CPU" : "NOT AS ON THE CPU");
  }

  void run_baseline(const benchmarks::PlainTemplates& plain, std::span<const std::uint8_t> query,
                    int repeats) {
    benchmarks::run_pairs(queue_, context_, plain, query, repeats);
  }

 private:
  opencl::Context context_;
  opencl::Queue queue_;
  SearchTuning tuning_;
  std::unique_ptr<SearchProgram> program_;
  std::unique_ptr<DeviceTemplates> templates_;
};

void run(const Arguments& a) {
  const auto chosen = opencl::choose_device(opencl::parse_device_choice(a.device), opencl::list_devices());
  std::unique_ptr<Device> device;
  if (chosen) device = std::make_unique<Device>(*chosen, a);
  std::printf("%s, %s, %d threads%s%s\n", cpu_name().c_str(), instruction_set().c_str(), a.threads,
              chosen ? "; " : "", chosen ? chosen->device.name.c_str() : "");
  struct Case {
    const char* name;
    TemplateFormat format;
    std::function<Faces()> templates;
  };
  const auto counts = [](int dims) { return TemplateFormat{Kind::counts8, dims, {}}; };
  const Case cases[] = {
      {"faces", counts(benchmarks::kFaceValues), [&] { return load_faces(a); }},
      {"faces in 144 regions", counts(144 * 59), [] { return benchmarks::made_up_faces(200, 1, 144, 59); }},
      {"faces with 243 bins", counts(49 * 243), [] { return benchmarks::made_up_faces(200, 1, 49, 243); }},
      {"dense counts", counts(benchmarks::kFaceValues),
       [] { return random_bytes(500, benchmarks::kFaceValues, 1); }},
      {"vectors", {Kind::vector8, 512, {}}, [] { return random_bytes(500, 512, 0); }}};
  for (const Case& c : std::span(cases).first(std::min<std::size_t>(a.kinds, std::size(cases)))) {
    const Faces templates = c.templates();
    if (device) device->build(c.format);
    TemplateSet set(c.format);
    for (const int size : a.templates) {
      while (set.size() < static_cast<std::size_t>(size))
        set.append(templates[set.size() * 7 % templates.size()]);
      while (set.size() > static_cast<std::size_t>(size)) set.remove(set.size() - 1);
      const double read = read_ms(set);
      std::printf("%s, %d of %d; read %.3f ms, %.1f GB/s\n", c.name, size, c.format.dims, read,
                  static_cast<double>(set.blocks() * set.block_bytes()) / read * 1e-6);
      if (device) device->load(set);
      for (const std::size_t count : {1, 4}) {
        std::vector<std::uint8_t> queries;
        for (std::size_t q = 0; q < count; ++q) {
          const auto& query = templates[(q * 101 + 13) % templates.size()];
          queries.insert(queries.end(), query.begin(), query.end());
        }
        run_cpu(set, queries, count, a.repeats);
        if (device) device->run(set, queries, count, a.repeats);
      }
      if (!a.has_baselines || c.format.kind != Kind::counts8) continue;
      benchmarks::PlainTemplates plain{{}, static_cast<std::size_t>(c.format.dims)};
      for (int i = 0; i < size; ++i) {
        const auto& one = templates[static_cast<std::size_t>(i) * 7 % templates.size()];
        plain.values.insert(plain.values.end(), one.begin(), one.end());
      }
      const std::vector<std::uint8_t>& query = templates[13 % templates.size()];
      benchmarks::run_kd_tree(plain, query, std::min(a.repeats, 5));
      if (device) device->run_baseline(plain, query, a.repeats);
    }
  }
}

}  // namespace
}  // namespace sightline::recognition

int main(int argc, char** argv) {
  using namespace sightline;
  try {
    const recognition::Arguments arguments = recognition::parse(argc, argv);
    oneapi::tbb::task_arena arena(arguments.threads);
    arena.execute([&] { recognition::run(arguments); });
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "bench_search: %s\n", e.what());
    return static_cast<int>(e.code());
  }
}
