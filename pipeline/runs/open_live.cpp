#include "pipeline/runs/open_live.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace sightline::pipeline {
namespace {

class ReaderInput : public LiveInput {
 public:
  ReaderInput(const std::string& input, const media::ReadOptions& options) : reader_(input, options) {}
  std::optional<Frame> read() override { return reader_.read(); }
  StreamInfo info() const override { return reader_.info(); }
  std::int64_t decode_errors() const override { return reader_.decode_errors(); }

 private:
  media::Reader reader_;
};

}  // namespace

std::unique_ptr<LiveSource> open_live(const std::string& input, const media::ReadOptions& read,
                                      LiveOptions options) {
  if (read.every != 1)
    throw Error(ExitCode::usage, "ReadOptions::every must be 1 for a live source, which drops frames itself");
  if (options.name.empty()) options.name = input;
  media::ReadOptions own = read;
  own.low_delay = options.live;
  own.patience = options.live ? options.reopen_after : 0;
  if (options.give_up_after.value_or(0) > 0) own.patience = std::min(*own.patience, *options.give_up_after);
  return std::make_unique<LiveSource>(
      [input, own](const std::atomic<bool>& stop) -> std::unique_ptr<LiveInput> {
        media::ReadOptions with_stop = own;
        with_stop.stop = &stop;
        return std::make_unique<ReaderInput>(input, with_stop);
      },
      std::move(options));
}

}  // namespace sightline::pipeline
