#include "detection/result_writer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/errors.hpp"

namespace sightline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ResultWriterTest : public ::testing::Test {
 protected:
  ResultWriterTest()
      : folder_(fs::temp_directory_path() / ("sightline-results-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~ResultWriterTest() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string written(ResultFormat format, const std::vector<FrameResult>& frames,
                      std::vector<std::string> labels = {"person", "face"}) {
    const fs::path path = folder_ / "out";
    auto writer = ResultWriter::open(path, format, std::move(labels));
    for (const auto& frame : frames) writer->write(frame);
    writer->finish();
    writer->finish();  // harmless
    return content(path);
  }

  fs::path folder_;
};

FrameResult frame(std::int64_t number, std::vector<Detection> objects) {
  return {"a.mp4", number, static_cast<double>(number) * 0.04, FrameStatus::ok, 768, 576, std::move(objects),
          ""};
}
FrameResult failed_frame(std::int64_t number) {
  return {"a.mp4", number, 1.0 / 3, FrameStatus::failed, 768, 576, {}, "decoder: \"bad\" data"};
}
const Detection kPerson{{489.005, 161, 31.034, 75.17}, 1.23004, 0};
const Detection kFace{{-2.5, 0, 24, 24}, -0.00001, 1};

ExitCode code_of(const std::function<void()>& work, std::string* message = nullptr) {
  try {
    work();
  } catch (const Error& error) {
    if (message) *message = error.what();
    return error.code();
  }
  return ExitCode::done;
}

TEST_F(ResultWriterTest, SaysWhichSettingSearchedAFrame) {
  FrameResult one = frame(1, {kPerson});
  one.setting = "25 filters, \"coarse\"";
  for (const ResultFormat format : {ResultFormat::jsonl, ResultFormat::json, ResultFormat::coco}) {
    EXPECT_THAT(written(format, {one}), HasSubstr(R"("setting":"25 filters, \"coarse\"")"));
    EXPECT_THAT(written(format, {frame(1, {kPerson})}), testing::Not(HasSubstr("setting")));
  }
}

TEST_F(ResultWriterTest, JsonLines) {
  EXPECT_EQ(
      written(ResultFormat::jsonl, {frame(1, {kPerson, kFace}), frame(2, {}), failed_frame(3)}),
      R"({"source":"a.mp4","frame":1,"time":0.04,"status":"ok","width":768,"height":576,"objects":[)"
      R"({"label":"person","score":1.23,"box":[489.01,161,31.03,75.17]},)"
      R"({"label":"face","score":0,"box":[-2.5,0,24,24]}]})"
      "\n"
      R"({"source":"a.mp4","frame":2,"time":0.08,"status":"ok","width":768,"height":576,"objects":[]})"
      "\n"
      R"({"source":"a.mp4","frame":3,"time":0.333333,"status":"failed","width":768,"height":576,"objects":[],)"
      R"("message":"decoder: \"bad\" data"})"
      "\n");
}

TEST_F(ResultWriterTest, ConfidenceOfCalibratedModels) {
  Detection sure = kPerson;
  sure.confidence = 0.98765432;
  const std::vector<FrameResult> frames{frame(1, {sure, kFace})};
  for (const ResultFormat format : {ResultFormat::jsonl, ResultFormat::json, ResultFormat::coco}) {
    const auto document = nlohmann::json::parse(written(format, frames));
    const auto& objects = format == ResultFormat::coco   ? document["annotations"]
                          : format == ResultFormat::json ? document["frames"][0]["objects"]
                                                         : document["objects"];
    EXPECT_EQ(objects[0]["confidence"], 0.9877);
    EXPECT_FALSE(objects[1].contains("confidence"));
  }
  EXPECT_THAT(written(ResultFormat::csv, frames), HasSubstr(",75.17,,,,0.9877\n"));
}

TEST_F(ResultWriterTest, JsonDocument) {
  const std::string two = written(ResultFormat::json, {frame(1, {kFace}), frame(2, {})});
  EXPECT_EQ(two,
            R"({"frames":[)"
            "\n"
            R"({"source":"a.mp4","frame":1,"time":0.04,"status":"ok","width":768,"height":576,"objects":[)"
            R"({"label":"face","score":0,"box":[-2.5,0,24,24]}]},)"
            "\n"
            R"({"source":"a.mp4","frame":2,"time":0.08,"status":"ok","width":768,"height":576,"objects":[]})"
            "\n]}\n");
  EXPECT_EQ(nlohmann::json::parse(two)["frames"].size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(written(ResultFormat::json, {}))["frames"].size(), 0U);
}

TEST_F(ResultWriterTest, CsvQuotesAndHasEveryFrame) {
  FrameResult odd = frame(2, {});
  odd.source = "a \"b\",\nc";
  EXPECT_EQ(written(ResultFormat::csv, {frame(1, {kPerson, kFace}), odd, failed_frame(3)}, {"person", "f,g"}),
            "source,frame,time,status,label,score,x,y,width,height,track,name,distance,confidence\n"
            "a.mp4,1,0.04,ok,person,1.23,489.01,161,31.03,75.17,,,,\n"
            "a.mp4,1,0.04,ok,\"f,g\",0,-2.5,0,24,24,,,,\n"
            "\"a \"\"b\"\",\nc\",2,0.08,ok,,,,,,,,,,\n"
            "a.mp4,3,0.333333,failed,,,,,,,,,,\n");
}

TEST_F(ResultWriterTest, CsvOfARunThatTurnsBetweenSettingsSaysWhichOne) {
  FrameResult found = frame(1, {kPerson, kFace}), nothing = frame(2, {});
  found.setting = "12 filters, step 1.15";
  nothing.setting = "\"fast\"";
  const fs::path path = folder_ / "out";
  const auto writer = ResultWriter::open(path, ResultFormat::csv, {"person", "face"}, true);
  for (const FrameResult& one : {found, nothing, failed_frame(3)}) writer->write(one);
  writer->finish();
  EXPECT_EQ(content(path),
            "source,frame,time,status,label,score,x,y,width,height,track,name,distance,confidence,setting\n"
            "a.mp4,1,0.04,ok,person,1.23,489.01,161,31.03,75.17,,,,,\"12 filters, step 1.15\"\n"
            "a.mp4,1,0.04,ok,face,0,-2.5,0,24,24,,,,,\"12 filters, step 1.15\"\n"
            "a.mp4,2,0.08,ok,,,,,,,,,,,\"\"\"fast\"\"\"\n"
            "a.mp4,3,0.333333,failed,,,,,,,,,,,\n");
}

TEST_F(ResultWriterTest, Mot) {
  EXPECT_EQ(written(ResultFormat::mot, {frame(1, {kPerson}), frame(2, {}), frame(3, {kFace})}),
            "1,-1,489.01,161,31.03,75.17,1.23,-1,-1,-1\n"
            "3,-1,-2.5,0,24,24,0,-1,-1,-1\n");
}

TEST_F(ResultWriterTest, IdentitiesOfTrackedObjects) {
  Detection tracked = kPerson;
  tracked.track = 7;
  const std::vector<FrameResult> frames{frame(4, {tracked, kFace})};
  EXPECT_EQ(written(ResultFormat::mot, frames),
            "4,7,489.01,161,31.03,75.17,1.23,-1,-1,-1\n"
            "4,-1,-2.5,0,24,24,0,-1,-1,-1\n");
  EXPECT_EQ(written(ResultFormat::csv, frames),
            "source,frame,time,status,label,score,x,y,width,height,track,name,distance,confidence\n"
            "a.mp4,4,0.16,ok,person,1.23,489.01,161,31.03,75.17,7,,,\n"
            "a.mp4,4,0.16,ok,face,0,-2.5,0,24,24,,,,\n");
  const std::string objects =
      R"("objects":[{"label":"person","score":1.23,"box":[489.01,161,31.03,75.17],"track":7},)"
      R"({"label":"face","score":0,"box":[-2.5,0,24,24]}])";
  EXPECT_THAT(written(ResultFormat::jsonl, frames), HasSubstr(objects));
  EXPECT_THAT(written(ResultFormat::json, frames), HasSubstr(objects));
  const auto coco = nlohmann::json::parse(written(ResultFormat::coco, frames));
  EXPECT_EQ(coco["annotations"][0]["track_id"], 7);
  EXPECT_EQ(coco["annotations"][0]["id"], 1);
  EXPECT_FALSE(coco["annotations"][1].contains("track_id"));
}

TEST_F(ResultWriterTest, CsvHasNameAndDistance) {
  Detection named = kFace;
  named.attributes = DetectionAttributes{"Ada \"L\"", 0.41237, {}};
  Detection unknown = kFace;
  unknown.attributes = DetectionAttributes{kUnknownName, std::nullopt, {}};
  EXPECT_THAT(written(ResultFormat::csv, {frame(1, {named, unknown})}),
              testing::EndsWith("0,24,24,,\"Ada \"\"L\"\"\",0.4124,\n"
                                "a.mp4,1,0.04,ok,face,0,-2.5,0,24,24,,unknown,,\n"));
}

TEST_F(ResultWriterTest, MotRefusesASecondSourceAndGoesOn) {
  const auto writer = ResultWriter::open(folder_ / "out", ResultFormat::mot, {"person"});
  writer->write(frame(1, {kPerson}));
  FrameResult other = frame(2, {kPerson});
  other.source = "b.mp4";
  std::string message;
  EXPECT_EQ(code_of([&] { writer->write(other); }, &message), ExitCode::usage);
  EXPECT_THAT(message, AllOf(HasSubstr("a.mp4"), HasSubstr("b.mp4")));
  writer->write(frame(3, {}));
  writer->finish();
  EXPECT_EQ(content(folder_ / "out"), "1,-1,489.01,161,31.03,75.17,1.23,-1,-1,-1\n");
}

TEST_F(ResultWriterTest, Coco) {
  EXPECT_EQ(
      written(ResultFormat::coco, {frame(7, {kPerson, kFace}), failed_frame(8), frame(9, {kFace})}),
      R"({"images":[)"
      "\n"
      R"({"id":1,"file_name":"a.mp4#7","width":768,"height":576,"source":"a.mp4","frame":7,"time":0.28,"status":"ok"},)"
      "\n"
      R"({"id":2,"file_name":"a.mp4#8","width":768,"height":576,"source":"a.mp4","frame":8,"time":0.333333,)"
      R"("status":"failed","message":"decoder: \"bad\" data"},)"
      "\n"
      R"({"id":3,"file_name":"a.mp4#9","width":768,"height":576,"source":"a.mp4","frame":9,"time":0.36,"status":"ok"})"
      "\n"
      R"(],"categories":[{"id":1,"name":"person"},{"id":2,"name":"face"}],"annotations":[)"
      "\n"
      R"({"image_id":1,"category_id":1,"bbox":[489.01,161,31.03,75.17],"score":1.23,"area":2332.83,"id":1,"iscrowd":0},)"
      "\n"
      R"({"image_id":1,"category_id":2,"bbox":[-2.5,0,24,24],"score":0,"area":576,"id":2,"iscrowd":0},)"
      "\n"
      R"({"image_id":3,"category_id":2,"bbox":[-2.5,0,24,24],"score":0,"area":576,"id":3,"iscrowd":0})"
      "\n]}\n");
  const auto empty = nlohmann::json::parse(written(ResultFormat::coco, {}));
  EXPECT_TRUE(empty["images"].empty() && empty["annotations"].empty());
}

TEST_F(ResultWriterTest, LinesAreThereAtOnce) {
  const auto writer = ResultWriter::open(folder_ / "out", ResultFormat::jsonl, {"person"});
  writer->write(frame(1, {}));
  EXPECT_THAT(content(folder_ / "out"), ::testing::EndsWith("\"objects\":[]}\n"));
}

TEST_F(ResultWriterTest, NamesThatAreNotUtf8DoNotThrow) {
  FrameResult odd = frame(1, {});
  odd.source = "caf\xe9.avi";
  EXPECT_THAT(written(ResultFormat::jsonl, {odd}), HasSubstr("\"caf\xEF\xBF\xBD.avi\""));
  EXPECT_THAT(written(ResultFormat::coco, {odd}, {"l\xff"}), HasSubstr("\"caf\xEF\xBF\xBD.avi#1\""));
  EXPECT_THAT(written(ResultFormat::csv, {odd}), HasSubstr("caf\xe9.avi,1"));
}

TEST_F(ResultWriterTest, NumbersThatAreNotFiniteAndHugeOnes) {
  const Detection odd{{std::nan(""), 1e300, 1e16, -0.001}, INFINITY, 0};
  EXPECT_THAT(written(ResultFormat::jsonl, {frame(1, {odd})}),
              HasSubstr(R"("score":null,"box":[null,1e+300,1e+16,0])"));
  EXPECT_EQ(written(ResultFormat::mot, {frame(1, {odd})}), "1,-1,nan,1e+300,1e+16,0,nan,-1,-1,-1\n");
}

TEST_F(ResultWriterTest, ALabelWithoutNameIsAnErrorAndTheFileStaysWhole) {
  for (const auto format : {ResultFormat::json, ResultFormat::coco}) {
    {
      const auto writer = ResultWriter::open(folder_ / "out", format, {"person"});
      EXPECT_EQ(code_of([&] { writer->write(frame(1, {kPerson, kFace})); }), ExitCode::failed);
      writer->write(frame(2, {kPerson}));
    }  // the destructor finishes
    const auto document = nlohmann::json::parse(content(folder_ / "out"));
    EXPECT_EQ(document[format == ResultFormat::json ? "frames" : "annotations"].size(), 1U);
  }
}

TEST_F(ResultWriterTest, AFullDiskIsAnErrorOnce) {
  for (const auto format : {ResultFormat::jsonl, ResultFormat::mot}) {
    const auto writer = ResultWriter::open("/dev/full", format, {"person"});
    std::string message;
    EXPECT_EQ(code_of([&] { writer->write(frame(1, {kPerson})); }, &message), ExitCode::failed);
    EXPECT_THAT(message, HasSubstr("'/dev/full'"));
    EXPECT_EQ(code_of([&] { writer->finish(); }), ExitCode::failed);
  }
  for (const auto format : {ResultFormat::json, ResultFormat::csv, ResultFormat::coco}) {
    EXPECT_EQ(code_of([&] { ResultWriter::open("/dev/full", format, {}); }), ExitCode::failed);
  }
}

TEST_F(ResultWriterTest, APathThatCannotBeWritten) {
  for (const fs::path& file : {folder_ / "no/such/file", folder_})
    test::expect_error(ExitCode::failed, file, [&] { ResultWriter::open(file, ResultFormat::csv, {}); });
}

TEST_F(ResultWriterTest, AClosedPipeIsAnErrorAndNoSignal) {
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  const auto writer = ResultWriter::open(fifo, ResultFormat::jsonl, {"person"});
  writer->write(frame(1, {}));
  ::close(reader);
  test::expect_error(ExitCode::failed, fifo, [&] { writer->write(frame(2, {})); });
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST_F(ResultWriterTest, ATerminalObeysNoName) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0)
    GTEST_SKIP() << "there are no pseudo-terminals here";
  FrameResult one = frame(1, {kPerson});
  one.source = "a\x1b[31m\u009b\u202e\x07.png";
  for (const ResultFormat format :
       {ResultFormat::csv, ResultFormat::mot, ResultFormat::jsonl, ResultFormat::json}) {
    const auto writer = ResultWriter::open(::ptsname(master), format, {"a\x1b[0m", "b"});
    writer->write(one);
    std::string shown(4096, '\0');
    shown.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(master, shown.data(), shown.size()))));
    EXPECT_FALSE(shown.empty());
    for (const char* const raw : {"\x1b", "\x07", "\u009b", "\u202e"})
      EXPECT_EQ(shown.find(raw), std::string::npos) << shown;
    writer->finish();
  }
  ::close(master);
}

TEST_F(ResultWriterTest, WaitsForAFullPipeThatDoesNotBlock) {
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int both = ::open(fifo.c_str(), O_RDWR | O_NONBLOCK);  // so that the writer's open does not wait
  const int saved = ::dup(STDOUT_FILENO);
  ::fflush(stdout);
  ::dup2(both, STDOUT_FILENO);
  std::size_t received = 0;
  std::thread reader([&] {
    std::vector<char> block(65536);
    while (received < 400000) {
      const ssize_t count = ::read(both, block.data(), block.size());
      if (count > 0) received += static_cast<std::size_t>(count);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  FrameResult large = frame(1, {});
  large.source = std::string(400000, 'x');
  const auto writer = ResultWriter::open("-", ResultFormat::jsonl, {});
  writer->write(large);
  writer->finish();
  reader.join();
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(both);
  EXPECT_GE(received, 400000U);
}

TEST_F(ResultWriterTest, NothingIsWrittenAfterTheEnd) {
  const auto writer = ResultWriter::open(folder_ / "out", ResultFormat::jsonl, {});
  writer->finish();
  EXPECT_EQ(code_of([&] { writer->write(frame(1, {})); }), ExitCode::failed);
}

TEST(ResultFormat, Names) {
  for (const auto format :
       {ResultFormat::jsonl, ResultFormat::json, ResultFormat::csv, ResultFormat::mot, ResultFormat::coco}) {
    EXPECT_EQ(parse_result_format(to_string(format)), format);
  }
  test::expect_error(ExitCode::usage, "'xml'", [] { parse_result_format("xml"); });
}

TEST(ResultFormat, GuessedFromTheName) {
  EXPECT_EQ(guess_result_format("-"), ResultFormat::jsonl);
  EXPECT_EQ(guess_result_format("a/b.JSONL"), ResultFormat::jsonl);
  EXPECT_EQ(guess_result_format("b.json"), ResultFormat::json);
  EXPECT_EQ(guess_result_format("b.coco.json"), ResultFormat::coco);
  EXPECT_EQ(guess_result_format("b.csv"), ResultFormat::csv);
  EXPECT_EQ(guess_result_format("det.txt"), ResultFormat::mot);
  EXPECT_EQ(guess_result_format("b"), std::nullopt);
}

}  // namespace
}  // namespace sightline
