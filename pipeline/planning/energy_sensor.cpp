#include "pipeline/planning/energy_sensor.hpp"

#include <utility>

#include "base/error.hpp"

namespace sightline::pipeline {

EnergySensor::EnergySensor(std::shared_ptr<EnergyCounter> energy, std::chrono::milliseconds interval)
    : energy_(std::move(energy)), interval_(interval) {
  if (!energy_ || energy_->empty()) {
    throw Error(ExitCode::usage,
                "--budget needs an energy meter, and none can be read"_message +
                    (!energy_ || energy_->note().empty() ? "" : " (" + energy_->note() + ")"),
                "run as root (RAPL), or use --power-log with an external meter"_message);
  }
  thread_ = std::thread([this] { measure(); });
}

EnergySensor::~EnergySensor() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ends_or_anew_.notify_all();
  thread_.join();
}

void EnergySensor::count_frame() {
  const std::lock_guard lock(mutex_);
  ++frames_;
}

void EnergySensor::restart() {
  {
    const std::lock_guard lock(mutex_);
    ++begun_;
    reading_.reset();
  }
  ends_or_anew_.notify_all();
}

std::optional<EnergySensor::Reading> EnergySensor::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reading_, std::nullopt);
}

std::string EnergySensor::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void EnergySensor::measure() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  try {
    while (!ends_) {
      const std::uint64_t number = begun_;
      const std::int64_t before = frames_;
      lock.unlock();
      const Clock::time_point start = Clock::now();
      energy_->start();
      lock.lock();
      ends_or_anew_.wait_for(lock, interval_, [&] { return ends_ || begun_ != number; });
      const std::int64_t frames = frames_ - before;
      const bool whole = !ends_ && begun_ == number;
      lock.unlock();
      energy_->stop();
      Reading reading{0, std::chrono::duration<double>(Clock::now() - start).count(), frames};
      if (whole) reading.joules = energy_->joules();
      lock.lock();
      if (whole && begun_ == number) reading_ = reading;
    }
  } catch (const std::exception& e) {
    if (!lock.owns_lock()) lock.lock();
    failure_ = e.what();
  }
}

}  // namespace sightline::pipeline
