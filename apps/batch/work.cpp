// `sightline batch work`: the parts of a task.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <new>

#include "apps/batch/commands.hpp"
#include "apps/batch/job.hpp"
#include "apps/batch/worker.hpp"
#include "apps/cli/stop.hpp"
#include "base/error.hpp"
#include "base/publish.hpp"
#include "base/shared_file.hpp"
#include "base/text.hpp"

namespace sightline::apps::batch {
namespace {

// Parts that have no file yet, or all of them.
std::vector<Job::Place> places_of(const Job& job, std::optional<int> task, bool all) {
  const auto tasks = std::ssize(job.tasks());
  if (task && (*task < 0 || *task >= tasks)) {
    throw Error(ExitCode::usage, fmt::format("there is no task {}", *task),
                tasks > 0 ? fmt::format("the job has tasks 0 to {}", tasks - 1) : "the job has no tasks");
  }
  std::size_t begin = 0, end = job.parts().size();
  if (task) std::tie(begin, end) = job.tasks()[static_cast<std::size_t>(*task)];
  std::vector<Job::Place> places;
  for (std::size_t i = begin; i < end; ++i) {
    if (!has_regular_file(job.file(job.name(job.parts()[i]))) || all) places.push_back(job.parts()[i]);
  }
  return places;
}

// The exit code of a task with several failed parts. Code 1 wins, because a task that ends with it is
// retried.
int worse(int a, int b) {
  constexpr int kFailed = static_cast<int>(ExitCode::failed);
  if (a == kFailed || b == kFailed) return kFailed;
  return std::max(a, b);
}

}  // namespace

int work(const WorkArguments& a) {
  const std::atomic<bool>& stop = stop_requested();
  const Job job(a.folder);
  const std::vector<Job::Place> places = places_of(job, a.task, a.verify);
  if (places.empty()) {
    spdlog::info("all parts are done");
    return 0;
  }
  const auto record = [&](const Job::Place& place, int code, const std::string& message) {
    if (stop) throw_if_stopped();
    spdlog::error("{}", message);
    record_failure(job, {job.name(place), job.describe(place), code, message, machine_name(), 0});
    return code;
  };
  int code = 0;
  const auto guarded = [&](const Job::Place& place, const auto& run) {
    try {
      run();
      return true;
    } catch (const Error& error) {
      code = worse(code, record(place, static_cast<int>(error.code()), error.what()));
    } catch (const std::bad_alloc&) {
      code = worse(code, record(place, static_cast<int>(ExitCode::failed), "out of memory"));
    }
    return false;
  };
  std::unique_ptr<Worker> worker;
  const bool is_ready = guarded(places.front(), [&] {
    enter_folder_of(job);
    worker = make_worker(job, a.schedule, a.verbosity);
  });
  if (!is_ready) return code;
  std::int64_t done = 0;
  for (const Job::Place& place : places) done += guarded(place, [&] { worker->run(place); }) ? 1 : 0;
  spdlog::info("{} of {} done", done, counted(std::ssize(places), "part"));
  return code;
}

}  // namespace sightline::apps::batch
