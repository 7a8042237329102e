#include "media/fake_decoder.hpp"

#ifdef SIGHTLINE_FAULTS

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace sightline::media {
namespace {

using FaultKind = DecoderFault::Kind;

constexpr std::chrono::milliseconds kFakePatience{100};

/// Faults by the number of the picture that they strike. Shared by all fake decoders of a source.
struct FaultPlan {
  std::map<std::int64_t, std::string> faults;
  bool refuses = false;
  std::atomic<std::int64_t> pictures{0};
};

class FakeDecoder final : public VideoDecoder {
 public:
  FakeDecoder(const StreamFacts& facts, std::shared_ptr<FaultPlan> plan)
      : plan_(std::move(plan)), decoder_(open(facts)) {
    if (plan_->refuses) throw DecoderFault(FaultKind::refused, "the fake refuses");
  }

  int send(AVPacket* packet, std::int64_t arrival) override { return decoder_.send(packet, arrival); }
  void flush() override { decoder_.flush(); }

  int receive(AVFrame& picture) override {
    const int code = decoder_.receive(picture);
    if (code < 0) return code;
    const auto found = plan_->faults.find(++plan_->pictures);
    if (found == plan_->faults.end()) return code;
    if (found->second != "lose") return strike(found->second, picture);
    av_frame_unref(&picture);
    return receive(picture);
  }

 private:
  static CodecContextPtr open(const StreamFacts& facts) {
    const AVCodec* const codec = avcodec_find_decoder(facts.parameters->codec_id);
    CodecContextPtr context =
        make_decoder_context(*codec, *facts.parameters, facts.time_base, facts.low_delay);
    context->thread_count = 1;
    if (avcodec_open2(context.get(), codec, nullptr) < 0)
      throw DecoderFault(FaultKind::refused, "the fake does not open");
    return context;
  }

  static int strike(const std::string& fault, AVFrame& picture) {
    if (fault == "wrong") {
      if (av_frame_make_writable(&picture) < 0) throw std::bad_alloc();
      picture.data[0][picture.linesize[0] * (picture.height - 1) + picture.width / 2] ^= 1;
      return 0;
    }
    av_frame_unref(&picture);
    if (fault == "damage") return AVERROR_INVALIDDATA;
    if (fault == "crash") std::abort();
    if (fault == "hang") std::this_thread::sleep_for(10 * kFakePatience);
    return AVERROR_EXTERNAL;
  }

  const std::shared_ptr<FaultPlan> plan_;
  SoftwareDecoder decoder_;
};

void add_fault(const std::string& text, FaultPlan& plan, FallbackDecoder::Setup& setup) {
  const std::size_t at = std::min(text.find('@'), text.size());
  const std::string name = text.substr(0, at);
  std::int64_t number = 0;
  if (at < text.size()) std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
  if (text == "refuse")
    plan.refuses = true;
  else if (text == "prove")
    setup.is_proved_first = true;
  else if (name == "keep")
    setup.most_kept = number;
  else if (number > 0 && (name == "fail" || name == "wrong" || name == "lose" || name == "hang" ||
                          name == "crash" || name == "damage"))
    plan.faults.emplace(number, name);
  else
    throw Error(ExitCode::usage, "'" + text + "' is not a fault of the fake decoder");
}

}  // namespace

void set_up_fake(FallbackDecoder::Setup& setup, const std::string& faults, const StreamFacts& facts) {
  const auto plan = std::make_shared<FaultPlan>();
  std::istringstream list(faults);
  for (std::string fault; std::getline(list, fault, ',');) add_fault(fault, *plan, setup);
  setup.thread.opening_limit = 20 * kFakePatience;
  setup.thread.call_limit = kFakePatience;
  setup.shortest_pause = std::chrono::milliseconds(1);
  setup.open_hardware = [=] { return std::make_unique<FakeDecoder>(facts, plan); };
  setup.on_fault = [](const DecoderFault&) { return true; };
}

}  // namespace sightline::media

#endif
