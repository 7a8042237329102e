// The C functions of libsightline.so, beside the same work by the libraries of C++.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sightline.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>

#include "detection/result_writer.hpp"
#include "detectors/registry.hpp"
#include "image/colour.hpp"
#include "params/config.hpp"
#include "pipeline/runs/digest.hpp"
#include "support/filterbank.hpp"
#include "support/media.hpp"

namespace sightline::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kConfigs = SIGHTLINE_SOURCE_DIR "/configs/";
const std::string kStreet = SIGHTLINE_SOURCE_DIR "/tools/pictures/street.jpg";

struct FreeHandle {
  void operator()(sl_detector* handle) const { sl_detector_free(handle); }
  void operator()(sl_result* handle) const { sl_result_free(handle); }
  void operator()(sl_tracker* handle) const { sl_tracker_free(handle); }
  void operator()(sl_counter* handle) const { sl_counter_free(handle); }
  void operator()(sl_stream* handle) const { sl_stream_free(handle); }
  void operator()(sl_frame* handle) const { sl_frame_free(handle); }
};
template <typename T>
using Owned = std::unique_ptr<T, FreeHandle>;

struct Problem : sl_error {
  Problem() : sl_error{} { struct_size = sizeof(sl_error); }
};

// Without devices, because tests run beside each other.
Owned<sl_detector> open_detector(const std::string& config,
                                 const std::string& options = "device = \"none\"") {
  Problem problem;
  sl_detector* detector = nullptr;
  EXPECT_EQ(sl_detector_open((kConfigs + config + ".toml").c_str(), options.c_str(), &detector, &problem),
            SL_OK)
      << problem.what << " " << problem.hint;
  return Owned<sl_detector>(detector);
}

sl_image image_of(const void* pixels, sl_format format, Size size, std::ptrdiff_t stride) {
  sl_image image{};
  image.struct_size = sizeof image;
  image.format = format;
  image.width = size.width;
  image.height = size.height;
  image.plane[0] = pixels;
  image.stride[0] = stride;
  return image;
}

sl_image image_of(GrayView gray) {
  return image_of(gray.data(), SL_GRAY8, gray.size(), gray.stride());
}

Owned<sl_result> search(sl_detector* detector, const sl_image& image) {
  Problem problem;
  sl_result* result = nullptr;
  EXPECT_EQ(sl_detector_search(detector, &image, 1, &result, &problem), SL_OK) << problem.what;
  return Owned<sl_result>(result);
}

std::string digest_of(const sl_result* result) {
  std::array<std::uint8_t, 16> digest{};
  sl_result_digest(result, digest.data());
  return pipeline::digits_of(digest);
}

std::string text_of(char* text) {
  std::string copy = text ? text : "";
  sl_text_free(text);
  return copy;
}

Image<std::uint8_t> street() {
  media::Reader reader(kStreet);
  return to_gray(*reader.read());
}

void expect_same(const sl_result* result, const std::vector<Detection>& expected,
                 const std::vector<std::string>& labels) {
  std::size_t n = 0, stride = 0;
  const sl_object* objects = sl_result_objects(result, &n, &stride);
  ASSERT_EQ(n, expected.size());
  ASSERT_EQ(stride, sizeof(sl_object));
  for (std::size_t i = 0; i < n; ++i) {
    const Box& box = expected[i].box;
    EXPECT_EQ(objects[i].x, box.x);
    EXPECT_EQ(objects[i].y, box.y);
    EXPECT_EQ(objects[i].width, box.width);
    EXPECT_EQ(objects[i].height, box.height);
    EXPECT_EQ(objects[i].score, static_cast<float>(expected[i].score));
    EXPECT_EQ(objects[i].label, expected[i].label);
    EXPECT_EQ(objects[i].track, 0);
    if (expected[i].confidence) {
      EXPECT_EQ(objects[i].confidence, static_cast<float>(*expected[i].confidence));
    } else {
      EXPECT_TRUE(std::isnan(objects[i].confidence));
    }
  }
  EXPECT_EQ(digest_of(result), pipeline::digits_of(pipeline::digest_of(expected, labels)));
}

class CApiConfigs : public ::testing::TestWithParam<const char*> {};

TEST_P(CApiConfigs, FindWhatTheLibraryFinds) {
  const Owned<sl_detector> detector = open_detector(GetParam());
  ASSERT_TRUE(detector);
  const auto own = make_detector(Config::load(kConfigs + GetParam() + ".toml"));
  ASSERT_EQ(sl_detector_labels(detector.get()), own->info().labels.size());
  EXPECT_EQ(sl_detector_label(detector.get(), 0), own->info().labels[0]);
  EXPECT_EQ(sl_detector_label(detector.get(), 99), nullptr);
  EXPECT_EQ(sl_detector_fingerprint(detector.get()), own->info().plan_key);
  const Image<std::uint8_t> scene = street(), made_up = random_picture({313, 247}, 5);
  for (const GrayView picture : {scene.view(), made_up.view()}) {
    const auto workspace = own->make_workspace();
    expect_same(search(detector.get(), image_of(picture)).get(), detect(*own, *workspace, picture),
                own->info().labels);
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, CApiConfigs, ::testing::Values("people", "faces", "faces-waldboost"));

// Pixels of every format, and their luma.
TEST(CApi, FormatsAreLuma) {
  const Owned<sl_detector> detector = open_detector("people");
  const Image<std::uint8_t> gray = street();
  const Size size = gray.view().size();
  const std::string expected = digest_of(search(detector.get(), image_of(gray.view())).get());
  std::vector<std::uint8_t> bottom_up, packed, wide;
  for (int y = size.height - 1; y >= 0; --y) {
    bottom_up.insert(bottom_up.end(), gray.view().row(y), gray.view().row(y) + size.width);
  }
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const std::uint8_t value = gray.view().row(y)[x];
      packed.insert(packed.end(), {value, value, value, 7});
      wide.insert(wide.end(), {static_cast<std::uint8_t>(value), value});  // 257 times the value
    }
  }
  const auto expect = [&](const sl_image& image) {
    EXPECT_EQ(digest_of(search(detector.get(), image).get()), expected) << image.format;
  };
  const std::uint8_t* const last = bottom_up.data() + std::ptrdiff_t{size.height - 1} * size.width;
  expect(image_of(last, SL_GRAY8, size, -size.width));
  expect(image_of(packed.data(), SL_BGRA32, size, 4 * size.width));
  expect(image_of(packed.data(), SL_RGBA32, size, 4 * size.width));
  expect(image_of(wide.data(), SL_GRAY16, size, 2 * size.width));
  const std::vector<std::uint8_t> chroma(static_cast<std::size_t>(size.width) * size.height, 128);
  sl_image video = image_of(gray.view());
  video.format = SL_NV12;
  video.plane[1] = chroma.data();
  video.stride[1] = size.width;
  expect(video);
  video.format = SL_I420;
  video.plane[2] = chroma.data();
  video.stride[1] = video.stride[2] = size.width / 2;
  expect(video);
}

TEST(CApi, ImagesOfACallAreSearchedInOrder) {
  const Owned<sl_detector> detector = open_detector("people");
  std::vector<Image<std::uint8_t>> pictures;
  std::vector<sl_image> images;
  for (unsigned i = 0; i < 9; ++i) pictures.push_back(i == 4 ? street() : random_picture({200, 180}, i));
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    images.push_back(image_of(pictures[i].view()));
    images.back().time = static_cast<double>(i);
  }
  std::vector<sl_result*> results(images.size());
  ASSERT_EQ(sl_detector_search(detector.get(), images.data(), images.size(), results.data(), nullptr), SL_OK);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Owned<sl_result> result(results[i]);
    EXPECT_EQ(digest_of(result.get()), digest_of(search(detector.get(), images[i]).get()));
    sl_about about{};
    about.struct_size = sizeof about;
    ASSERT_EQ(sl_result_about(result.get(), &about), SL_OK);
    EXPECT_EQ(about.time, static_cast<double>(i));
    EXPECT_EQ(about.frame, 0);
    EXPECT_EQ(about.width, images[i].width);
  }
}

TEST(CApi, ThreadsShareADetector) {
  const Owned<sl_detector> detector = open_detector("people");
  const Image<std::uint8_t> scene = street();
  const GrayView people(scene.view().row(200) + 480, 480, 400, scene.view().stride());
  const Owned<sl_result> found = search(detector.get(), image_of(people));
  ASSERT_TRUE(sl_result_objects(found.get(), nullptr, nullptr));
  const std::string expected = digest_of(found.get());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 4; ++k)
        wrong += digest_of(search(detector.get(), image_of(people)).get()) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A call, and words of its error.
struct WrongCall {
  const char* what;
  const char* options;
  sl_status status;
  const char* problem;
  const char* hint;
};

TEST(CApi, ErrorsSayWhatAndWhatToDo) {
  for (const WrongCall& one : {
           WrongCall{"peple", nullptr, SL_E_CONFIG, "there is no configuration 'peple'", "people"},
           {"people", "thresold = 1", SL_E_CONFIG, "there is no option 'thresold'", "threshold"},
           {"people", "threshold = \"x\"", SL_E_CONFIG, "'threshold' must be a number", ""},
           {"people", "scale_step = 99", SL_E_CONFIG, "out of range", "1.001 to 8"},
           {"people", "threshold = 1\nconfidence = 0.5", SL_E_CONFIG, "exclude each other", "one of them"},
           {"people", "[detecto]\nthreshold = 1", SL_E_CONFIG, "section [detecto]", "detector"},
           {"people", "[schedule]\nnme = \"cpu\"", SL_E_CONFIG, "'nme' is not known", "name"},
           {"people", "a = = 1", SL_E_CONFIG, "options:1", ""},
           {"people", "gallery = \"x\"", SL_E_CONFIG, "no detector recognises", "recognise"},
           {"people,faces", "threshold = 1", SL_E_CONFIG, "several", "[[detector]]"},
           {"people", "device = \"nonsense\"", SL_E_DEVICE, "nonsense", ""},
           {"people", "nonsense_of_mine = 1", SL_E_CONFIG, "'nonsense_of_mine'", "detect --help"},
           {"people", "classes = [1]", SL_E_CONFIG, "list of texts", ""},
           {"people", "classes = [\"person\"]", SL_E_CONFIG, "'classes' does nothing", ""},
           {"mine.pt", nullptr, SL_E_CONFIG, "a PyTorch model", "ONNX"},
           {"nothing.onnx", nullptr, SL_E_CONFIG, "nothing.onnx", "path"},
           {"", nullptr, SL_E_CONFIG, "no detector is named", "people"},
       }) {
    Problem problem;
    auto* detector = reinterpret_cast<sl_detector*>(1);
    EXPECT_EQ(sl_detector_open(one.what, one.options, &detector, &problem), one.status) << one.what;
    EXPECT_EQ(detector, nullptr);
    EXPECT_EQ(problem.status, one.status);
    EXPECT_THAT(std::string(problem.where) + ": " + problem.what, HasSubstr(one.problem)) << one.what;
    EXPECT_THAT(std::string(problem.hint), HasSubstr(one.hint)) << one.what << ": " << problem.what;
    EXPECT_EQ(std::string(problem.what).find("--"), std::string::npos) << problem.what;
  }
}

TEST(CApi, WrongImagesAreNamed) {
  const Owned<sl_detector> detector = open_detector("people");
  const std::vector<std::uint8_t> pixels(64 * 64, 0);
  const auto expect = [&](sl_status status, const char* words, const std::function<void(sl_image&)>& change) {
    sl_image images[2];
    for (sl_image& image : images) image = image_of(pixels.data(), SL_GRAY8, {64, 64}, 64);
    change(images[1]);
    sl_result* results[2] = {};
    Problem problem;
    EXPECT_EQ(sl_detector_search(detector.get(), images, 2, results, &problem), status) << words;
    EXPECT_THAT(problem.what, HasSubstr(words));
    EXPECT_STREQ(problem.where, "image 2");
    EXPECT_EQ(results[0], nullptr);
  };
  expect(SL_E_ARGUMENT, "format 77", [](sl_image& image) { image.format = 77; });
  expect(SL_E_ARGUMENT, "0x64", [](sl_image& image) { image.width = 0; });
  expect(SL_E_ARGUMENT, "plane 0", [](sl_image& image) { image.plane[0] = nullptr; });
  expect(SL_E_ARGUMENT, "stride", [](sl_image& image) { image.stride[0] = 63; });
  expect(SL_E_ARGUMENT, "finite", [](sl_image& image) { image.time = NAN; });
  expect(SL_E_ARGUMENT, "plane 1", [](sl_image& image) { image.format = SL_NV12; });
  expect(SL_E_LIMIT, "pixels", [](sl_image& image) { image.width = image.height = 1 << 20; });
  expect(SL_E_ARGUMENT, "struct_size", [](sl_image& image) { image.struct_size = 8; });
  EXPECT_EQ(sl_detector_search(detector.get(), nullptr, 0, nullptr, nullptr), SL_OK);
  EXPECT_EQ(sl_detector_search(nullptr, nullptr, 0, nullptr, nullptr), SL_E_ARGUMENT);
}

TEST(CApi, AnErrorHasTheSizeThatTheCallerKnows) {
  std::vector<char> memory(sizeof(sl_error), 'x');
  const std::uint32_t size = offsetof(sl_error, where);
  std::memcpy(memory.data(), &size, sizeof size);
  auto* const error = reinterpret_cast<sl_error*>(memory.data());
  EXPECT_EQ(sl_detector_open("peple", nullptr, nullptr, error), SL_E_ARGUMENT);
  EXPECT_STREQ(error->what, "detector is NULL");
  EXPECT_TRUE(std::all_of(memory.begin() + size, memory.end(), [](char one) { return one == 'x'; }));
  // Cut at a character, of two bytes each here.
  std::string name(601, 'a');
  for (int i = 0; i < 300; ++i) name.replace(1 + 2 * static_cast<std::size_t>(i), 2, "ä");
  Problem problem;
  sl_detector* detector = nullptr;
  EXPECT_EQ(sl_detector_open((name + ".toml").c_str(), nullptr, &detector, &problem), SL_E_CONFIG);
  const std::string what = problem.what;
  EXPECT_GE(what.size(), 509u);
  EXPECT_EQ(what.substr(what.size() - 2), "ä");
}

TEST(CApi, ImagesOfLaterVersionsAreTakenIfTheyAskForNothingNew) {
  const Owned<sl_detector> detector = open_detector("people");
  const Image<std::uint8_t> picture = street();
  struct Later : sl_image {
    std::uint64_t more = 0;
  } later;
  static_cast<sl_image&>(later) = image_of(picture.view());
  later.struct_size = sizeof later;
  Problem problem;
  sl_result* result = nullptr;
  EXPECT_EQ(sl_detector_search(detector.get(), &later, 1, &result, &problem), SL_OK) << problem.what;
  sl_result_free(result);
  later.more = 1;
  EXPECT_EQ(sl_detector_search(detector.get(), &later, 1, &result, &problem), SL_E_ARGUMENT);
}

TEST(CApi, AForkedCopyIsRefused) {
  const Owned<sl_detector> detector = open_detector("people");
  const Image<std::uint8_t> picture = street();
  const pid_t child = fork();
  if (child == 0) {
    const sl_image image = image_of(picture.view());
    sl_result* result = nullptr;
    sl_tracker* tracker = nullptr;
    const bool are_refused = sl_detector_search(detector.get(), &image, 1, &result, nullptr) == SL_E_FORKED &&
                             sl_tracker_open(nullptr, &tracker, nullptr) == SL_E_FORKED;
    sl_detector_free(detector.get());  // does nothing
    _exit(are_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  search(detector.get(), image_of(picture.view()));
}

TEST(CApi, ChosenObjectsAreAResult) {
  const Owned<sl_detector> detector = open_detector("people");
  const Image<std::uint8_t> picture = street();
  const Owned<sl_result> all = search(detector.get(), image_of(picture.view()));
  std::size_t n = 0, stride = 0;
  const sl_object* const objects = sl_result_objects(all.get(), &n, &stride);
  ASSERT_GE(n, 2u);
  const std::size_t wanted[] = {1, 0};
  sl_result* some = nullptr;
  ASSERT_EQ(sl_result_select(all.get(), wanted, 2, &some, nullptr), SL_OK);
  const Owned<sl_result> owned(some);
  const sl_object* const chosen = sl_result_objects(some, &n, nullptr);
  ASSERT_EQ(n, 2u);
  EXPECT_EQ(chosen[0].x, objects[1].x);
  EXPECT_EQ(chosen[1].x, objects[0].x);
  const std::size_t beyond[] = {1000};
  EXPECT_EQ(sl_result_select(all.get(), beyond, 1, &some, nullptr), SL_E_ARGUMENT);
  EXPECT_EQ(sl_result_ref(all.get()), all.get());
  sl_result_free(all.get());
}

// --- streams -----------------------------------------------------------------------------------------------

class CApiStreams : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    clip_ = *folder_ / "clip.mkv";
    media::test::make_clip(clip_, "movie=" + kStreet +
                                      ",loop=-1:1,crop=640:360:300+n*4:150,fps=25,trim=end_frame=30,"
                                      "setpts=N/25/TB,format=yuv420p");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static Owned<sl_stream> open(sl_detector* detector, const std::string& options = "",
                               const std::string& url = clip_) {
    Problem problem;
    sl_stream* stream = nullptr;
    EXPECT_EQ(sl_stream_open(url.c_str(), detector, options.c_str(), &stream, &problem), SL_OK)
        << problem.what << " " << problem.hint;
    return Owned<sl_stream>(stream);
  }
  static std::vector<Owned<sl_result>> all_of(sl_stream* stream) {
    std::vector<Owned<sl_result>> results;
    sl_result* result = nullptr;
    Problem problem;
    sl_status status;
    while ((status = sl_stream_next(stream, -1, &result, nullptr, &problem)) == SL_OK)
      results.emplace_back(result);
    EXPECT_EQ(status, SL_END) << problem.what;
    return results;
  }

  static std::unique_ptr<TempDir> folder_;
  static std::string clip_;
};
std::unique_ptr<TempDir> CApiStreams::folder_;
std::string CApiStreams::clip_;

TEST_F(CApiStreams, HaveTheResultsOfTheLibrary) {
  const Owned<sl_detector> detector = open_detector("people");
  const auto own = make_detector(Config::load(kConfigs + "people.toml"));
  const auto workspace = own->make_workspace();
  const auto results = all_of(open(detector.get()).get());
  const std::vector<Frame> frames = media::test::read_all(clip_);
  ASSERT_EQ(results.size(), frames.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    FrameResult expected;
    expected.source = clip_;
    expected.frame = frames[i].number();
    expected.time = frames[i].time();
    expected.width = frames[i].size().width;
    expected.height = frames[i].size().height;
    expected.objects = detect(*own, *workspace, frames[i].view());
    char* line = nullptr;
    ASSERT_EQ(sl_result_json(results[i].get(), &line, nullptr), SL_OK);
    EXPECT_EQ(text_of(line), json_line(expected, own->info().labels));
    EXPECT_EQ(digest_of(results[i].get()),
              pipeline::digits_of(pipeline::digest_of(expected.objects, own->info().labels)));
  }
}

TEST_F(CApiStreams, WithoutADetectorHaveFrames) {
  const Owned<sl_stream> stream = open(nullptr);
  const std::vector<Frame> frames = media::test::read_all(clip_);
  for (const Frame& expected : frames) {
    sl_result* result = nullptr;
    sl_frame* frame = nullptr;
    ASSERT_EQ(sl_stream_next(stream.get(), 10'000, &result, &frame, nullptr), SL_OK);
    const Owned<sl_result> owned(result);
    const Owned<sl_frame> owned_frame(frame);
    sl_image image{};
    image.struct_size = sizeof image;
    ASSERT_EQ(sl_frame_image(frame, &image), SL_OK);
    ASSERT_EQ(image.format, static_cast<std::uint32_t>(SL_I420));
    ASSERT_EQ((Size{image.width, image.height}), expected.size());
    const GrayView luma = expected.gray();
    for (int y = 0; y < image.height; ++y) {
      ASSERT_EQ(std::memcmp(static_cast<const std::uint8_t*>(image.plane[0]) + y * image.stride[0],
                            luma.row(y), static_cast<std::size_t>(image.width)),
                0);
    }
    std::vector<std::uint8_t> bgr(static_cast<std::size_t>(3 * image.width * image.height));
    ASSERT_EQ(sl_frame_bgr(frame, bgr.data(), 3 * image.width, nullptr), SL_OK);
    const YuvWeights weights = yuv_weights(false, false);
    const auto* const u = static_cast<const std::uint8_t*>(image.plane[1]);
    const auto* const v = static_cast<const std::uint8_t*>(image.plane[2]);
    std::vector<std::uint8_t> row(4 * static_cast<std::size_t>(image.width));
    yuv_to_bgra_reference(luma.row(0), u, v, image.width, weights, row.data());
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const auto to = static_cast<std::size_t>(3 * x + c), from = static_cast<std::size_t>(4 * x + c);
        ASSERT_EQ(bgr[to], row[from]);
      }
    }
    EXPECT_EQ(sl_frame_bgr(frame, bgr.data(), 3, nullptr), SL_E_ARGUMENT);
  }
  sl_result* result = nullptr;
  EXPECT_EQ(sl_stream_next(stream.get(), -1, &result, nullptr, nullptr), SL_END);
}

TEST_F(CApiStreams, ASlowCallerLosesNothing) {
  const Owned<sl_detector> detector = open_detector("people", "device = \"none\"\nin_flight = 1");
  const Owned<sl_stream> stream = open(detector.get(), "queue = 1");
  const Owned<sl_stream> idle = open(detector.get(), "queue = 1");  // holds no slot
  const Image<std::uint8_t> picture = random_picture({200, 180}, 1);
  std::int64_t last = 0;
  sl_result* result = nullptr;
  while (sl_stream_next(stream.get(), -1, &result, nullptr, nullptr) == SL_OK) {
    const Owned<sl_result> owned(result);
    sl_about about{};
    about.struct_size = sizeof about;
    sl_result_about(result, &about);
    EXPECT_EQ(about.frame, ++last);
    EXPECT_EQ(about.skipped, 0);
    search(detector.get(), image_of(picture.view()));  // within the loop, on the same detector
  }
  EXPECT_EQ(last, 30);
}

TEST_F(CApiStreams, TheNewestReplaceThoseThatWait) {
  const Owned<sl_detector> detector = open_detector("people");
  const Owned<sl_stream> stream = open(detector.get(), "policy = \"newest\"\npace = 5\nloop = -1");
  std::int64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    sl_result* result = nullptr;
    ASSERT_EQ(sl_stream_next(stream.get(), 10'000, &result, nullptr, nullptr), SL_OK);
    const Owned<sl_result> owned(result);
    sl_about about{};
    about.struct_size = sizeof about;
    sl_result_about(result, &about);
    EXPECT_EQ(about.frame, last + about.skipped + 1);
    last = about.frame;
  }
  EXPECT_GT(last, 5);
}

TEST_F(CApiStreams, TracksAreCounted) {
  const Owned<sl_detector> detector = open_detector("people");
  const Owned<sl_stream> stream = open(detector.get(), "track = { hits = 2 }");
  sl_counter* made = nullptr;
  Problem problem;
  ASSERT_EQ(
      sl_counter_open("zones.all = { polygon = [[0,0],[1,0],[1,1],[0,1]], inertia = 1 }", &made, &problem),
      SL_OK)
      << problem.what;
  const Owned<sl_counter> counter(made);
  std::size_t entered = 0;
  for (const auto& result : all_of(stream.get())) {
    const sl_count* events = nullptr;
    std::size_t n = 0;
    ASSERT_EQ(sl_counter_update(counter.get(), result.get(), &events, &n, &problem), SL_OK) << problem.what;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_STREQ(events[i].name, "all");
      entered += events[i].kind == SL_ENTERED;
    }
  }
  EXPECT_GT(entered, 0u);
  char* totals = nullptr;
  ASSERT_EQ(sl_counter_totals(counter.get(), &totals, nullptr), SL_OK);
  EXPECT_THAT(text_of(totals), HasSubstr("\"all\":{\"entered\":" + std::to_string(entered)));
  const Image<std::uint8_t> picture = random_picture({200, 180}, 1);
  const Owned<sl_result> untracked = search(detector.get(), image_of(picture.view()));
  const sl_count* events = nullptr;
  std::size_t n = 0;
  EXPECT_EQ(sl_counter_update(counter.get(), untracked.get(), &events, &n, &problem), SL_E_ARGUMENT);
}

TEST_F(CApiStreams, StopEndsAWait) {
  const Owned<sl_detector> detector = open_detector("people");
  const Owned<sl_stream> stream = open(detector.get(), "policy = \"newest\"\npace = 0.001");
  sl_result* result = nullptr;
  ASSERT_EQ(sl_stream_next(stream.get(), -1, &result, nullptr, nullptr), SL_OK);
  sl_result_free(result);
  EXPECT_EQ(sl_stream_next(stream.get(), 0, &result, nullptr, nullptr), SL_TIMEOUT);
  std::thread other([&] {
    sl_status status = SL_TIMEOUT;
    while (status == SL_TIMEOUT) {  // until the first thread waits
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      status = sl_stream_next(stream.get(), 0, &result, nullptr, nullptr);
    }
    EXPECT_EQ(status, SL_E_STATE);
    EXPECT_EQ(sl_stream_stop(stream.get()), SL_OK);
  });
  sl_result* none = nullptr;
  sl_status status = SL_E_STATE;
  while (status == SL_E_STATE) status = sl_stream_next(stream.get(), -1, &none, nullptr, nullptr);
  EXPECT_EQ(status, SL_END);
  other.join();
}

// Streams and searches of one detector begin and end in 16 threads, at any moment.
TEST_F(CApiStreams, AreLeftInMidLoop) {
  const Owned<sl_detector> detector = open_detector("people");
  const Image<std::uint8_t> picture = random_picture({200, 180}, 1);
  const std::string expected = digest_of(search(detector.get(), image_of(picture.view())).get());
  std::atomic<int> wrong{0};
  const auto leave = [&](int frames, bool by_another) {
    const Owned<sl_stream> stream = open(detector.get(), "queue = 2\ntrack = true");
    std::thread other;
    if (by_another) {
      other = std::thread([&stream] {
        char* state = nullptr;
        EXPECT_EQ(sl_stream_state(stream.get(), &state, nullptr), SL_OK);
        sl_text_free(state);
        EXPECT_EQ(sl_stream_stop(stream.get()), SL_OK);
      });
    }
    for (int i = 0; by_another || i < frames; ++i) {
      sl_result* result = nullptr;
      sl_frame* frame = nullptr;
      const sl_status status = sl_stream_next(stream.get(), -1, &result, &frame, nullptr);
      const Owned<sl_result> owned(result);
      const Owned<sl_frame> owned_frame(frame);
      wrong += status < 0;
      if (status != SL_OK) break;
    }
    if (other.joinable()) other.join();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 1) return leave(i % 4, i % 8 == 7);
      for (int k = 0; k < 3; ++k)
        wrong += digest_of(search(detector.get(), image_of(picture.view())).get()) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CApiStreams, AStreamOutlivesItsDetector) {
  Owned<sl_detector> detector = open_detector("people");
  const Owned<sl_stream> stream = open(detector.get());
  detector.reset();
  EXPECT_EQ(all_of(stream.get()).size(), 30u);
}

TEST_F(CApiStreams, ErrorsOfStreamsSayWhatIsWrong) {
  Problem problem;
  sl_stream* stream = nullptr;
  EXPECT_EQ(sl_stream_open("/nothing.mkv", nullptr, nullptr, &stream, &problem), SL_E_INPUT);
  EXPECT_THAT(problem.what, HasSubstr("/nothing.mkv"));
  for (const auto& [options, words] :
       std::vector<std::pair<std::string, std::string>>{{"policy = \"all of them\"", "no policy"},
                                                        {"queue = 0", "'queue' is 0"},
                                                        {"queue = 1.5", "whole number"},
                                                        {"trak = true", "no option 'trak'"},
                                                        {"track = 1", "true or false"},
                                                        {"track = { hits = 0 }", "'hits' is 0"},
                                                        {"size = \"big\"", "not a size"},
                                                        {"decoder = \"magic\"", "magic"}}) {
    EXPECT_EQ(sl_stream_open(clip_.c_str(), nullptr, options.c_str(), &stream, &problem), SL_E_CONFIG)
        << options;
    EXPECT_THAT(problem.what, HasSubstr(words));
  }
}

TEST(CApi, TrackersPredict) {
  const Owned<sl_detector> detector = open_detector("people");
  const Image<std::uint8_t> picture = street();
  sl_tracker* made = nullptr;
  ASSERT_EQ(sl_tracker_open("hits = 1\ngap = 1", &made, nullptr), SL_OK);
  const Owned<sl_tracker> tracker(made);
  const Owned<sl_result> found = search(detector.get(), image_of(picture.view()));
  sl_result* out = nullptr;
  ASSERT_EQ(sl_tracker_update(tracker.get(), 0, found.get(), &out, nullptr), SL_OK);
  const Owned<sl_result> tracked(out);
  std::size_t n = 0, stride = 0;
  const sl_object* objects = sl_result_objects(tracked.get(), &n, &stride);
  ASSERT_GT(n, 0u);
  EXPECT_EQ(objects[0].flags & SL_PREDICTED, 0u);
  EXPECT_GT(objects[0].track, 0);
  ASSERT_EQ(sl_tracker_predict(tracker.get(), 0.1, &out, nullptr), SL_OK);
  const Owned<sl_result> predicted(out);
  objects = sl_result_objects(predicted.get(), &n, &stride);
  ASSERT_GT(n, 0u);
  EXPECT_NE(objects[0].flags & SL_PREDICTED, 0u);
  Problem problem;
  EXPECT_EQ(sl_tracker_open("lost = 0.1\ngap = 1", &made, &problem), SL_E_CONFIG);
  EXPECT_EQ(sl_tracker_predict(tracker.get(), -0.1, &out, &problem), SL_E_ARGUMENT);
  EXPECT_THAT(problem.what, HasSubstr("before the last update"));
  for (const double time : {double(NAN), double(INFINITY), 0.0, -1.0})
    EXPECT_EQ(sl_tracker_update(tracker.get(), time, found.get(), &out, &problem), SL_E_ARGUMENT) << time;
  EXPECT_THAT(problem.what, HasSubstr("the time does not rise: -1 s after 0 s"));
  ASSERT_EQ(sl_tracker_update(tracker.get(), 0.1, found.get(), &out, &problem), SL_OK);
  const Owned<sl_result> later(out);
}

// What takes one thread at a time refuses others, and is whole afterwards; results are read by all.
TEST(CApi, TrackersAndCountersRefuseASecondThread) {
  const Owned<sl_detector> detector = open_detector("people");
  const Image<std::uint8_t> picture = street();
  const Owned<sl_result> found = search(detector.get(), image_of(picture.view()));
  const std::string expected = digest_of(found.get());
  sl_tracker* made = nullptr;
  ASSERT_EQ(sl_tracker_open("hits = 1", &made, nullptr), SL_OK);
  const Owned<sl_tracker> tracker(made);
  sl_counter* counts = nullptr;
  ASSERT_EQ(sl_counter_open("lines.a = { from = [0, 0.5], to = [1, 0.5] }", &counts, nullptr), SL_OK);
  const Owned<sl_counter> counter(counts);
  std::atomic<int> tracked{0}, wrong{0}, seconds{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        sl_result* out = nullptr;
        // Refused as an argument if another thread was faster with a later time.
        sl_status status = sl_tracker_update(tracker.get(), ++seconds, found.get(), &out, nullptr);
        const Owned<sl_result> owned(out);
        wrong += status != SL_OK && status != SL_E_STATE && status != SL_E_ARGUMENT;
        wrong += (status == SL_OK) != (out != nullptr);
        wrong += digest_of(found.get()) != expected;
        if (!out) continue;
        ++tracked;
        const sl_count* events = nullptr;
        std::size_t n = 0;
        status = sl_counter_update(counter.get(), out, &events, &n, nullptr);
        wrong += status != SL_OK && status != SL_E_STATE;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(tracked, 0);
  char* totals = nullptr;
  EXPECT_EQ(sl_counter_totals(counter.get(), &totals, nullptr), SL_OK);
  EXPECT_EQ(text_of(totals), "{\"lines\":{\"a\":{\"in\":0,\"out\":0}},\"zones\":{}}");
}

TEST(CApi, NothingIsPrintedUnlessItIsAskedFor) {
  EXPECT_EQ(sl_log(4, 2), SL_E_ARGUMENT);
  EXPECT_EQ(sl_log(1, -1), SL_E_ARGUMENT);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(sl_log(3, ends[1]), SL_OK);
  open_detector("people", "device = \"auto\"");  // says what it does with devices
  ASSERT_EQ(sl_log(-1, 0), SL_OK);
  close(ends[1]);
  char line[200] = {};
  const ssize_t size = read(ends[0], line, sizeof line - 1);
  close(ends[0]);
  if (size > 0) {
    EXPECT_THAT(std::string(line), HasSubstr("sightline: "));
  }
}

TEST(CApi, TellsVersionsAndDevices) {
  EXPECT_EQ(sl_abi(), SL_ABI_MAJOR << 16 | SL_ABI_MINOR);
  EXPECT_STREQ(sl_version(), SIGHTLINE_VERSION);
  EXPECT_STREQ(sl_status_name(SL_E_LIMIT), "SL_E_LIMIT");
  char* json = nullptr;
  ASSERT_EQ(sl_devices(&json, nullptr), SL_OK);
  EXPECT_THAT(text_of(json), HasSubstr("\"cpu\":{\"name\":"));
  const Owned<sl_detector> detector = open_detector("people");
  ASSERT_EQ(sl_detector_explain(detector.get(), &json, nullptr), SL_OK);
  EXPECT_THAT(text_of(json), HasSubstr("\"labels\":[\"person\"]"));
}

}  // namespace
}  // namespace sightline::test
