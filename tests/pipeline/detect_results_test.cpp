// Outputs of `sightline detect` that are computed from results: digests, comparisons, counts, pictures of
// objects.

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int kDiffer = 6;
const std::string kDigestOfNothing = "e3b0c44298fc1c149afbf4c8996fb924";  // of SHA-256("")
const std::string kStreetPicture = std::string(SIGHTLINE_SOURCE_DIR) + "/tools/pictures/street.jpg";

constexpr char kEverywhere[] = "zones.all = { polygon = [[-1,-1],[2,-1],[2,2],[-1,2]], inertia = 1 }\n";

Words search(const Words& more) {
  return Words{"detect", moving_clip(200, 240, 10)} + kFindsSome + more;
}

std::string text_of_lines(const std::vector<Json>& lines) {
  std::string text;
  for (const Json& line : lines) text += line.dump() + '\n';
  return text;
}

std::set<std::int64_t> tracks_in(const std::string& detections) {
  std::set<std::int64_t> tracks;
  for (const Json& line : parse_lines(bytes_of(detections))) {
    for (const Json& object : line.at("objects")) tracks.insert(object.at("track").get<std::int64_t>());
  }
  EXPECT_FALSE(tracks.empty());
  return tracks;
}

std::size_t files_in(const std::string& folder) {
  const fs::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

// Results of a search, stored once, and places for others.
class StoredResults : public testing::Test {
 protected:
  void SetUp() override {
    expect_run(0, search({"-q", "-d", golden_}));
    lines_ = parse_lines(bytes_of(golden_));
    ASSERT_EQ(lines_.size(), 10u);
    ASSERT_FALSE(lines_[4].at("objects").empty());
  }
  void store_changed() { store(other_, text_of_lines(lines_)); }

  TempDir folder_;
  const std::string golden_ = folder_ / "golden.jsonl", other_ = folder_ / "other.jsonl";
  std::vector<Json> lines_;
};

TEST(DetectDigest, IsOfFramesAndInputs) {
  TempDir folder;
  const Outcome outcome = expect_run(0, search({"--digest", "-q", "-d", folder / "d.jsonl"}));
  const std::vector<Json> lines = parse_lines(bytes_of(folder / "d.jsonl"));
  std::map<std::string, std::string> digests;  // by objects
  for (const Json& line : lines) {
    const std::string digest = line.at("digest");
    EXPECT_EQ(digest.size(), 32u);
    EXPECT_EQ(line.at("objects").empty(), digest == kDigestOfNothing);
    digests[line.at("objects").dump()] = digest;
  }
  EXPECT_GT(digests.size(), 1u);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("[0-9a-f]+  " + moving_clip(200, 240, 10) + "\n"));
  EXPECT_EQ(outcome.out.find("  "), 32u);
  // Under another schedule, on standard output.
  const Outcome again =
      expect_run(0, search({"--digest", "-q", "--device", "none", "--threads", "1", "-d", "-"}));
  EXPECT_EQ(parse_lines(again.out), lines);
  EXPECT_EQ(again.err, outcome.out);
  // A picture has the digest of its only frame.
  const Outcome picture =
      expect_run(0, {"detect", kStreetPicture, "--digest", "-q", "-d", folder / "p.jsonl"});
  const Json line = parse_lines(bytes_of(folder / "p.jsonl")).at(0);
  EXPECT_EQ(picture.out.substr(0, 32), line.at("digest").get<std::string>());
}

TEST_F(StoredResults, AreFoundAgain) {
  const Outcome outcome = expect_run(0, "10 frames", search({"--expect", golden_}));
  EXPECT_EQ(outcome.out, "");
  expect_run(0, "", search({"-q", "--expect", golden_, "-d", other_}));
  EXPECT_EQ(bytes_of(other_), bytes_of(golden_));
}

TEST_F(StoredResults, TellTheFirstDifference) {
  lines_[4].at("objects")[0].at("score") = 123.5;
  lines_[7].at("time") = 99;
  store_changed();
  const Outcome outcome = expect_run(kDiffer, "2 of 10 frames", search({"--expect", other_}));
  EXPECT_THAT(outcome.err, testing::AllOf(HasSubstr("frame 5, object 1, score"), HasSubstr("123.5")));
  EXPECT_THAT(run({"diff", golden_, other_}).out,
              testing::AllOf(HasSubstr("2 of 10 frames"), HasSubstr("frame 5, object 1, score")));
}

TEST_F(StoredResults, DifferByMissingAndExtraFrames) {
  lines_.erase(lines_.begin() + 2);
  store_changed();
  EXPECT_THAT(expect_run(kDiffer, search({"--expect", other_})).err,
              testing::AllOf(HasSubstr("1 of 10 frames"), HasSubstr("1 extra"), HasSubstr("frame 3")));
  const Outcome outcome = expect_run(kDiffer, {"diff", golden_, other_});
  EXPECT_THAT(outcome.out,
              testing::AllOf(HasSubstr("1 of 10 frames"), HasSubstr("1 missing"), HasSubstr("frame 3")));
}

TEST_F(StoredResults, DifferByObjectsAndFields) {
  lines_[4].at("objects").erase(0);
  store_changed();
  expect_run(kDiffer, {"diff", golden_, other_});
  expect_run(kDiffer, {"diff", other_, golden_});
  lines_ = parse_lines(bytes_of(golden_));
  lines_[4].at("objects")[0]["name"] = "Ann";
  store_changed();
  EXPECT_THAT(expect_run(kDiffer, {"diff", golden_, other_}).out, HasSubstr("object 1, name"));
}

TEST_F(StoredResults, CompareWithoutFoldersAndInAnyFormatThatIsRead) {
  Json document{{"frames", Json::array()}};
  for (Json& line : lines_) {
    line.at("source") = "/elsewhere/" + fs::path(line.at("source").get<std::string>()).filename().string();
    line["digest"] = kDigestOfNothing;  // the other file has none
    document["frames"].push_back(line);
  }
  store(folder_ / "other.json", document.dump());
  expect_run(0, {"diff", golden_, folder_ / "other.json"});
  store(folder_ / "bad.jsonl", bytes_of(golden_) + "{\"frame\":");
  for (const std::string& bad : {folder_ / "bad.jsonl", folder_ / "missing.jsonl"}) {
    expect_run(3, {"diff", golden_, bad});
    expect_run(3, {"diff", bad, golden_});
    expect_run(3, search({"--expect", bad, "-d", other_}));
  }
  EXPECT_FALSE(fs::exists(other_));
}

TEST(DetectCrops, AreOfEveryObject) {
  TempDir folder;
  const Words crops{"-q", "--crops", folder / "crops", "-d", folder / "d.jsonl"};
  expect_run(0, search(crops));
  std::set<std::string> names;
  for (const Json& line : parse_lines(bytes_of(folder / "d.jsonl"))) {
    for (std::size_t i = 0; i < line.at("objects").size(); ++i) {
      char name[40];
      std::snprintf(name, sizeof name, "-%06d-%03zu.png", line.at("frame").get<int>(), i + 1);
      names.insert(name);
      const std::vector<double> box = line.at("objects")[i].at("box");
      for (const auto& entry : fs::directory_iterator(folder / "crops")) {
        if (!entry.path().string().ends_with(name)) continue;
        const Size size = media::test::read_all(entry.path()).at(0).size();
        EXPECT_NEAR(size.width, box[2], 2);
        EXPECT_NEAR(size.height, box[3], 2);
      }
    }
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder / "crops")) {
    ++files;
    const std::string name = entry.path().filename();
    EXPECT_TRUE(names.contains(name.substr(name.size() - 15))) << name;
  }
  EXPECT_EQ(files, names.size());
  EXPECT_GT(files, 10u);
  expect_run(2, "not empty", search({"--crops", folder / "crops"}));
  expect_run(0, search(Words{"--overwrite"} + crops));
}

TEST(DetectCrops, AreOneOfEachTrack) {
  TempDir folder;
  expect_run(0, search({"-q", "--track", "--crops", folder / "crops", "-d", folder / "d.jsonl"}));
  EXPECT_EQ(files_in(folder / "crops"), tracks_in(folder / "d.jsonl").size());
}

// What is computed from results is given up to the failure, and is not taken for that of the whole input.
TEST(DetectLabels, AreThoseOfYolo) {
  TempDir folder;
  const Words yolo{"-q", "--track", "--format", "yolo", "-d", folder / "labels"};
  EXPECT_THAT(expect_run(0, search(yolo)).out, IsEmpty());
  expect_run(0, search({"-q", "--track", "-d", folder / "d.jsonl"}));
  EXPECT_EQ(bytes_of(folder / "labels/classes.txt"), "person\n");
  EXPECT_EQ(files_in(folder / "labels"), 11u);
  std::string stem = fs::path(moving_clip(200, 240, 10)).stem();
  std::ranges::replace_if(
      stem, [](char c) { return c == ':' || c == '=' || c == ','; }, '_');
  std::size_t objects = 0;
  for (const Json& line : parse_lines(bytes_of(folder / "d.jsonl"))) {
    char name[40];
    std::snprintf(name, sizeof name, "-%06d.txt", line.at("frame").get<int>());
    std::istringstream labels(bytes_of(folder / ("labels/" + stem + name)));
    const double width = line.at("width"), height = line.at("height");
    for (const Json& object : line.at("objects")) {
      const std::vector<double> box = object.at("box");
      double left = std::max(box[0], 0.0), top = std::max(box[1], 0.0);
      double right = std::min(box[0] + box[2], width), bottom = std::min(box[1] + box[3], height);
      double label = 0, x = 0, y = 0, w = 0, h = 0, score = 0;
      std::int64_t track = 0;
      ASSERT_TRUE(labels >> label >> x >> y >> w >> h >> score >> track);
      EXPECT_EQ(label, 0);
      EXPECT_NEAR(x * width, (left + right) / 2, 0.02);
      EXPECT_NEAR(y * height, (top + bottom) / 2, 0.02);
      EXPECT_NEAR(w * width, right - left, 0.02);
      EXPECT_NEAR(h * height, bottom - top, 0.02);
      EXPECT_NEAR(score, object.at("score").get<double>(), 1e-4);
      EXPECT_EQ(track, object.at("track").get<std::int64_t>());
      ++objects;
    }
    std::string more;
    EXPECT_FALSE(labels >> more) << more;
  }
  EXPECT_GT(objects, 10u);
  expect_run(2, "not empty", search(yolo));
  expect_run(0, search(Words{"--overwrite"} + yolo));
}

TEST(DetectLabels, OfPicturesHaveTheirNames) {
  TempDir folder;
  for (const char* const name : {"a.jpg", "classes.jpg"}) fs::copy_file(kStreetPicture, folder / name);
  expect_run(0, {"-q", "detect", folder / "a.jpg", folder / "classes.jpg", "--format", "yolo", "-d",
                 folder / "labels/"});
  EXPECT_EQ(bytes_of(folder / "labels/classes.txt"), "person\n");
  EXPECT_THAT(bytes_of(folder / "labels/a.txt"), StartsWith("0 0."));
  EXPECT_EQ(bytes_of(folder / "labels/a.txt"), bytes_of(folder / "labels/classes.jpg.txt"));
  expect_run(2, "--detections labels/", {"detect", folder / "a.jpg", "--format", "yolo"});
  expect_run(2, "coco, yolo", {"detect", folder / "a.jpg", "--format", "yol"});
  expect_run(2, "folder of the input", {"detect", folder / "a.jpg", "--format", "yolo", "-d", folder.path()});
}

TEST(DetectResults, AreThoseUntilTheInputFails) {
  TempDir folder;
  const auto encode = [&](const std::string& name, const std::string& size) {
    return media::test::load(media::test::encode_clip(
        folder, {"-f", "lavfi", "-i", moving_clip(200, 240, 12).substr(6) + ",scale=" + size},
        {"-c:v", "libx264", "-pix_fmt", "yuv420p"}, name));
  };
  std::vector<char> bytes = encode("small.ts", "200:240");
  const std::vector<char> large = encode("large.ts", "400:480");  // more pixels than are allowed
  bytes.insert(bytes.end(), large.begin(), large.end());
  store(folder / "both.ts", bytes);
  store(folder / "areas.toml", std::string(kEverywhere));
  const Words options = Words{"--track", "--zones", folder / "areas.toml", "--digest"} + kFindsSome;
  const Outcome failed =
      expect_run(3, "400x480",
                 Words{"detect", folder / "both.ts", "--max-pixels", "100000", "--crops", folder / "crops",
                       "-d", folder / "d.jsonl", "--report", folder / "r.html"} +
                     options);
  const std::size_t tracks = tracks_in(folder / "d.jsonl").size();
  EXPECT_EQ(files_in(folder / "crops"), tracks);
  const std::string totals = "all: " + std::to_string(tracks) + " entered";
  EXPECT_THAT(failed.err, HasSubstr("incomplete: " + totals));
  EXPECT_THAT(bytes_of(folder / "r.html"), HasSubstr("(incomplete)"));
  // The same frames, asked for: the decoder may have lost some before the failure.
  const double frames = static_cast<double>(parse_lines(bytes_of(folder / "d.jsonl")).size());
  const Outcome whole = expect_run(
      0, totals,
      Words{"detect", folder / "small.ts", "--duration", std::to_string(0.1 * frames - 0.05)} + options);
  EXPECT_THAT(whole.err, Not(HasSubstr("incomplete")));
  EXPECT_EQ(failed.out.substr(0, 43), "incomplete " + whole.out.substr(0, 32));
}

TEST(DetectResults, AreThoseUntilTheRunIsStopped) {
  TempDir folder;
  store(folder / "areas.toml", std::string(kEverywhere));
  const std::string detections = folder / "d.jsonl";
  Program program(Words{"detect", moving_clip(200, 240, 100000), "--track", "--zones", folder / "areas.toml",
                        "--digest", "-d", detections} +
                  kFindsSome);
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(detections) && fs::file_size(detections) > 0; }));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("incomplete: all: "));
  EXPECT_THAT(outcome.out, testing::StartsWith("incomplete "));
}

TEST(DetectCrops, DoNotMixWithInputs) {
  TempDir folder;
  fs::copy_file(kStreetPicture, folder / "a.jpg");
  expect_run(2, {"detect", folder / "a.jpg", "--crops", folder.path(), "--overwrite"});
  store(folder / "file", std::string("x"));
  expect_run(1, {"detect", folder / "a.jpg", "--crops", folder / "file/crops"});
}

TEST(DetectZones, CountTracks) {
  TempDir folder;
  // Everything is inside, and nothing is near the line.
  store(folder / "areas.toml", kEverywhere + std::string("lines.far = { from = [5, 5], to = [6, 5] }\n"));
  const Outcome outcome = expect_run(0, search({"--track", "--zones", folder / "areas.toml", "-d",
                                                folder / "d.jsonl", "--report", folder / "r.html"}));
  const std::set<std::int64_t> tracks = tracks_in(folder / "d.jsonl");
  std::set<std::int64_t> entered;
  for (const Json& line : parse_lines(bytes_of(folder / "d.jsonl"))) {
    if (!line.contains("events")) continue;
    for (const Json& event : line.at("events")) {
      EXPECT_EQ(event.at("zone"), "all");
      EXPECT_EQ(event.at("event"), "entered");
      EXPECT_EQ(event.at("label"), "person");
      entered.insert(event.at("track").get<std::int64_t>());
    }
  }
  EXPECT_EQ(entered, tracks);
  EXPECT_THAT(outcome.err, HasSubstr("far: 0 in, 0 out; all: " + std::to_string(tracks.size()) + " entered"));
  EXPECT_THAT(bytes_of(folder / "r.html"), HasSubstr("Lines and zones"));
}

// Counts, digests and stored results of two inputs that are searched at the same time.
TEST(DetectTogether, FindsTheSame) {
  TempDir folder;
  store(folder / "areas.toml", std::string(kEverywhere));
  const Words words = Words{"detect",
                            moving_clip(200, 240, 10),
                            moving_clip(200, 240, 14),
                            "--track",
                            "--zones",
                            folder / "areas.toml",
                            "--digest"} +
                      kFindsSome;
  const Outcome apart = expect_run(0, words + Words{"-d", folder / "d.jsonl"});
  const Outcome together = expect_run(0, words + Words{"--together", "--expect", folder / "d.jsonl"});
  EXPECT_EQ(together.out, apart.out);
  const auto counts = [](const Outcome& outcome) { return outcome.err.substr(outcome.err.find("all: ")); };
  EXPECT_THAT(together.err, HasSubstr(counts(apart)));
}

TEST(DetectZones, RefuseWhatCannotBeCounted) {
  TempDir folder;
  const std::string zones = folder / "areas.toml";
  store(zones, std::string("lines.a = { from = [0, 0], to = [1, 1] }\n"));
  expect_run(2, "--track", search({"--zones", zones}));
  for (const char* bad :
       {"\nlines.a = { from = [0, 0], to = [1, 1], farmes = 2 }\n", "\nlines.a = 3\n", "\nlines.\n"}) {
    store(zones, std::string(bad));
    expect_run(2, "areas.toml:2", search({"--track", "--zones", zones}));
  }
  // The key that is misspelt comes before the one that is missing.
  for (const auto& [bad, key] : {std::pair{"lines.a = { form = [0, 0], to = [1, 1] }\n", "from"},
                                 std::pair{"lines.a = { from = [0, 0], t = [1, 1] }\n", "to"},
                                 std::pair{"zones.a = { polygn = [[0, 0], [1, 0], [1, 1]] }\n", "polygon"}}) {
    store(zones, std::string(bad));
    EXPECT_THAT(expect_run(2, search({"--track", "--zones", zones})).err,
                testing::AllOf(HasSubstr("areas.toml:1"), HasSubstr("mean '" + std::string(key) + "'")));
  }
  store(zones, std::string("lines.a = { from = [0, 0], to = [1, 1], labels = [\"persn\"] }\n"));
  expect_run(2, "persn", search({"--track", "--zones", zones}));
  expect_run(3, search({"--track", "--zones", folder / "missing.toml"}));
}

}  // namespace
}  // namespace sightline::test
