#include "media/decoder_proof.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/child_trial.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/json_store.hpp"
#include "base/log.hpp"
#include "base/process_policy.hpp"
#include "base/shipped_files.hpp"
#include "base/text.hpp"
#include "media/decoder_choice.hpp"
#include "media/fake_decoder.hpp"
#include "media/hardware_decoder.hpp"
#include "media/hardware_device.hpp"
#include "media/picture_difference.hpp"
#include "media/stream_input.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;
using ProofOutcome = DecoderProof::Outcome;

/// An object of zeros in memory that this process shares with its children.
template <typename T>
class SharedObject {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SharedObject()
      : memory_(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SharedObject() { munmap(memory_, sizeof(T)); }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  T& operator*() const { return *static_cast<T*>(memory_); }

 private:
  void* memory_;
};

std::optional<std::string> run_in_child(const std::function<void()>& work, std::chrono::milliseconds limit) {
  if (!process_policy().tries_drivers_in_copies) return std::nullopt;
  return try_in_child(work, limit);
}

struct CudaDeviceNames {
  static constexpr int kMost = 64;
  int count;
  char names[kMost][128];
};

/// Calls a function of a library; false if it is not there, or fails.
template <typename... Arguments>
bool call_cuda(void* library, const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  return function && function(arguments...) == 0;
}

void ask_cuda(CudaDeviceNames& devices) {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  int count = 0;
  if (!library || !call_cuda(library, "cuInit", 0U) || !call_cuda(library, "cuDeviceGetCount", &count))
    return;
  count = std::min(count, CudaDeviceNames::kMost);
  for (int i = 0; i < count; ++i) {
    int device = 0;
    if (call_cuda(library, "cuDeviceGet", &device, i))
      call_cuda(library, "cuDeviceGetName", &devices.names[i][0],
                static_cast<int>(sizeof devices.names[i]) - 1, device);
  }
  devices.count = count;
}

void add_cuda_devices(std::vector<HardwareDecoderInfo>& found) {
  if (!has_nvidia_driver()) return;
  const SharedObject<CudaDeviceNames> devices;
  run_in_child([&] { ask_cuda(*devices); }, std::chrono::seconds(10));
  for (int i = 0; i < std::max((*devices).count, 1); ++i)
    found.push_back({fmt::format("cuda:{}", i), (*devices).names[i], nvidia_driver()});
}

void add_render_nodes(std::vector<HardwareDecoderInfo>& found) {
  std::vector<std::string> nodes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev/dri", error))
    if (entry.path().filename().string().starts_with("renderD")) nodes.push_back(entry.path());
  std::ranges::sort(nodes, natural_less);
  for (const std::string& node : nodes) {
    const fs::path link = "/sys/class/drm" / fs::path(node).filename() / "device/driver";
    found.push_back({"vaapi:" + node, fs::read_symlink(link, error).filename(), ""});
  }
}

struct ProofClip {
  StreamFacts facts;
  std::vector<PacketPtr> packets;
};

ProofClip read_proof_clip(const std::string& file) {
  const ReadOptions options;
  StreamInput input(file, options);
  const int video = best_video_stream(input.context());
  if (video < 0) throw Error(ExitCode::input, "'" + file + "' has no video stream");
  ProofClip clip{facts_of(*input.context().streams[video], options.max_pixels, false), {}};
  for (PacketPtr packet = make_av_packet(); input.read(*packet) >= 0; packet = make_av_packet())
    if (packet->stream_index == video) clip.packets.push_back(std::move(packet));
  return clip;
}

std::unique_ptr<VideoDecoder> open_one_thread(const StreamFacts& facts) {
  const AVCodec* const codec = avcodec_find_decoder(facts.parameters->codec_id);
  if (!codec) throw std::runtime_error("this FFmpeg does not decode it in software");
  CodecContextPtr context = make_decoder_context(*codec, *facts.parameters, facts.time_base, false);
  context->thread_count = 1;
  if (const int code = avcodec_open2(context.get(), codec, nullptr); code < 0)
    throw std::runtime_error("software decoding does not start (" + error_text(code) + ")");
  return std::make_unique<SoftwareDecoder>(std::move(context));
}

std::unique_ptr<VideoDecoder> open_to_prove(const DecoderChoice& device, const StreamFacts& facts) {
#ifdef SIGHTLINE_FAULTS
  if (device.kind == DecoderChoice::Kind::fake) {
    FallbackDecoder::Setup setup;
    set_up_fake(setup, device.device, facts);
    return setup.open_hardware();
  }
#endif
  std::unique_ptr<VideoDecoder> decoder = open_hardware_decoder(device, facts);
  // FFmpeg would only say that the device does not decode the codec.
  if (device.kind == DecoderChoice::Kind::cuda && !dlopen("libnvcuvid.so.1", RTLD_LAZY | RTLD_LOCAL))
    throw DecoderFault(DecoderFault::Kind::unavailable,
                       "libnvcuvid.so.1 cannot be loaded; in a container set "
                       "NVIDIA_DRIVER_CAPABILITIES=compute,video,utility");
  return decoder;
}

std::vector<FramePtr> decode_all(VideoDecoder& decoder, const std::vector<PacketPtr>& packets) {
  using Kind = DecoderFault::Kind;
  std::vector<FramePtr> pictures;
  for (std::size_t i = 0; i <= packets.size(); ++i) {
    AVPacket* const packet = i < packets.size() ? packets[i].get() : nullptr;
    if (const int code = decoder.send(packet, static_cast<std::int64_t>(i)); code < 0)
      throw DecoderFault(Kind::device, error_text(code));
    for (;;) {
      FramePtr picture = make_av_frame();
      const int code = decoder.receive(*picture);
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) break;
      if (code < 0) throw DecoderFault(Kind::device, error_text(code));
      if (is_damaged(*picture)) throw DecoderFault(Kind::damage, "a frame is marked as damaged");
      pictures.push_back(std::move(picture));
    }
  }
  return pictures;
}

std::string first_difference(const std::vector<FramePtr>& pictures, const std::vector<FramePtr>& expected) {
  for (std::size_t i = 0; i < std::min(pictures.size(), expected.size()); ++i)
    if (const std::string text = picture_difference(*pictures[i], *expected[i]); !text.empty())
      return fmt::format("frame {}: {}", i + 1, text);
  return pictures.size() == expected.size()
             ? ""
             : fmt::format("{} instead of {}", counted(std::ssize(pictures), "frame"), expected.size());
}

ProofOutcome outcome_of(DecoderFault::Kind kind) {
  using Kind = DecoderFault::Kind;
  switch (kind) {
    case Kind::unavailable:
      return ProofOutcome::unavailable;
    case Kind::refused:
      return ProofOutcome::unsupported;
    case Kind::wrong:
      return ProofOutcome::wrong;
    case Kind::hang:
      return ProofOutcome::hangs;
    case Kind::damage:
    case Kind::device:
      break;
  }
  return ProofOutcome::failed;
}

std::pair<ProofOutcome, std::string> compare_decoders(const DecoderChoice& device, const ProofClip& clip) {
  try {
    const std::vector<FramePtr> expected = decode_all(*open_one_thread(clip.facts), clip.packets);
    if (expected.empty()) return {ProofOutcome::untested, "software decodes no frame of its clip"};
    try {
      const std::vector<FramePtr> pictures = decode_all(*open_to_prove(device, clip.facts), clip.packets);
      const std::string difference = first_difference(pictures, expected);
      if (!difference.empty()) return {ProofOutcome::wrong, difference};
      return {ProofOutcome::proved,
              counted(std::ssize(expected), "frame") + " are equal to those of software"};
    } catch (const DecoderFault& fault) {
      return {outcome_of(fault.kind), fault.what()};
    }
  } catch (const std::exception& error) {
    return {ProofOutcome::untested, error.what()};
  }
}

struct SharedOutcome {
  ProofOutcome outcome;
  char reason[512];
};

JsonStore proof_memory() {
  return JsonStore(cache_file("decoders.json"));
}

std::string memory_key(const std::string& decoder, const std::string& codec) {
  return decoder + " " + codec;
}

/// All that a result depends on besides its key.
std::string memory_state() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return fmt::format("{} | {} | {} | sightline {} | libavcodec {}", boot_id(), nvidia_driver(),
                     visible ? visible : "all", build_info().version, avcodec_version());
}

}  // namespace

std::vector<HardwareDecoderInfo> list_hardware_decoders() {
  std::vector<HardwareDecoderInfo> found;
  add_cuda_devices(found);
  add_render_nodes(found);
  return found;
}

const char* to_string(DecoderProof::Outcome outcome) {
  switch (outcome) {
    case ProofOutcome::proved:
      return "proved";
    case ProofOutcome::unavailable:
      return "unavailable";
    case ProofOutcome::unsupported:
      return "unsupported";
    case ProofOutcome::failed:
      return "failed";
    case ProofOutcome::wrong:
      return "wrong";
    case ProofOutcome::hangs:
      return "hangs";
    case ProofOutcome::crashed:
      return "crashed";
    case ProofOutcome::untested:
      break;
  }
  return "untested";
}

DecoderProof prove_decoder(const std::string& decoder, const std::string& codec,
                           std::chrono::milliseconds limit) {
  const DecoderChoice device = parse_decoder(decoder);
  std::string name = codec + ".mkv";
  std::ranges::replace(name, ' ', '-');
  const fs::path file = find_shipped_file(fs::path("decoder-clips") / name);
  if (file.empty())
    throw Error(ExitCode::failed,
                "'decoder-clips/" + name + "' is missing among the installed configurations",
                "install Sightline again");
  // Not in the child, since a lock that another thread holds stays locked there.
  const ProofClip clip = read_proof_clip(file);
  const SharedObject<SharedOutcome> shared;
  const std::optional<std::string> end = run_in_child(
      [&] {
        const auto [outcome, reason] = compare_decoders(device, clip);
        reason.copy((*shared).reason, sizeof(*shared).reason - 1);
        (*shared).outcome = outcome;
      },
      limit);
  if (!end) return {codec, ProofOutcome::untested, "no process can be made for the test"};
  if (end->empty()) return {codec, (*shared).outcome, (*shared).reason};
  return {codec, end->starts_with("it did not answer") ? ProofOutcome::hangs : ProofOutcome::crashed, *end};
}

void remember_proof(const std::string& decoder, const DecoderProof& proof) {
  try {
    proof_memory().store(
        memory_key(decoder, proof.codec),
        {{"outcome", to_string(proof.outcome)}, {"reason", proof.reason}, {"state", memory_state()}});
  } catch (const Error& error) {
    logger().debug("the result of testing {} is not stored: {}", decoder, error.what());
  }
}

std::string remembered_failure(const std::string& decoder, const AVCodecParameters& codec) {
  const AVPixFmtDescriptor* const format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(codec.format));
  const std::string depth = format && format->comp[0].depth > 8 ? " 10 bit" : "";
  const nlohmann::json stored =
      proof_memory().find(memory_key(decoder, avcodec_get_name(codec.codec_id) + depth));
  const auto text = [&](const char* key) {
    const bool is_text = stored.is_object() && stored.contains(key) && stored[key].is_string();
    return is_text ? stored[key].get<std::string>() : std::string();
  };
  if (text("state") != memory_state()) return "";
  for (const ProofOutcome failure : {ProofOutcome::wrong, ProofOutcome::hangs, ProofOutcome::crashed})
    if (text("outcome") == to_string(failure)) return text("outcome") + ": " + text("reason");
  return "";
}

}  // namespace sightline::media
