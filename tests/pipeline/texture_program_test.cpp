// `sightline texture` and what goes with it, from the outside: the same files whatever the tiles, what is in
// them, and misuse.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "image/border.hpp"
#include "image/lbp_operator.hpp"
#include "media/gray_png.hpp"
#include "support/media.hpp"
#include "support/program.hpp"
#include "support/tiff.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Stripes and noise: all codes appear, and no two corners are alike.
Image<std::uint8_t> made_up_texture(Size size, int period, std::uint64_t seed) {
  Image<std::uint8_t> picture(size.width, size.height);
  Random random(seed);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const int stripe = (x + y / 2) % period * 200 / period;
      picture.view().at(x, y) = static_cast<std::uint8_t>(stripe + static_cast<int>(random.below(40)));
    }
  }
  return picture;
}

class TextureProgram : public testing::Test {
 protected:
  TextureProgram() : picture_(made_up_texture({157, 111}, 9, 5)) {
    media::write_gray_png(folder_ / "p.png", picture_.view());
  }

  static Json load_json(const std::string& file) { return Json::parse(bytes_of(file)); }
  std::string p() const { return folder_ / "p.png"; }

  // Counts by the definition, with an own look at what is outside.
  std::vector<std::uint64_t> count(const LbpOperator& op, LbpMapping mapping, BorderRule border,
                                   int halo) const {
    const GrayView view = picture_.view();
    const int left_out = border == BorderRule::skip ? halo : 0;
    const LbpBins bins(op.points(), mapping);
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins.count()));
    const int side = 2 * op.reach() + 1;
    Image<std::uint8_t> around(side, side);
    for (int y = left_out; y < view.height() - left_out; ++y) {
      for (int x = left_out; x < view.width() - left_out; ++x) {
        for (int j = 0; j < side; ++j) {
          for (int i = 0; i < side; ++i) {
            const BorderRule rule = border == BorderRule::skip ? BorderRule::clamp : border;
            around.view().at(i, j) =
                view.at(static_cast<int>(inside_index(x + i - op.reach(), view.width(), rule)),
                        static_cast<int>(inside_index(y + j - op.reach(), view.height(), rule)));
          }
        }
        ++counts[static_cast<std::size_t>(
            bins.bin(op.code(std::as_const(around).view(), op.reach(), op.reach())))];
      }
    }
    return counts;
  }

  static void store_texture(const std::string& file, Size size, int period, std::uint64_t seed) {
    const Image<std::uint8_t> picture = made_up_texture(size, period, seed);
    media::write_gray_png(file, picture.view());
  }

  TempDir folder_;
  const Image<std::uint8_t> picture_;
};

TEST_F(TextureProgram, HistogramsAreThoseOfTheDefinition) {
  for (const BorderRule border :
       {BorderRule::reflect, BorderRule::clamp, BorderRule::wrap, BorderRule::skip}) {
    const Outcome outcome = expect_run(0, {"-q", "texture", p(), "--operator", "grid", "--operator", "8,2.5",
                                           "--border", to_string(border), "--output", "-", "--tile", "40"});
    const Json record = Json::parse(outcome.out).at("textures").at(0);
    EXPECT_EQ(record.at("border"), to_string(border));
    EXPECT_EQ(record.at("left_out"), border == BorderRule::skip ? 3 : 0);
    ASSERT_EQ(record.at("histograms").size(), 2u);
    EXPECT_EQ(record.at("histograms").at(0).at("bins").get<std::vector<std::uint64_t>>(),
              count(LbpOperator(), LbpMapping::uniform, border, 3));
    EXPECT_EQ(record.at("histograms").at(1).at("bins").get<std::vector<std::uint64_t>>(),
              count(LbpOperator(8, 2.5), LbpMapping::uniform, border, 3));
  }
}

TEST_F(TextureProgram, NoFileTellsHowItWasComputed) {
  std::vector<Words> ways{{"--tile", "1024"},
                          {"--tile", "32", "--threads", "1"},
                          {"--tile", "64", "--in-flight", "7"},
                          {"--device", "none"}};
  if (has_cpu_device()) ways.push_back({"--tile", "64", "--device", "cpu", "--schedule", "gpu"});
  const Words names{"h.json", "h.csv", "h.svg", "cells.npy", "l-grid.tif", "l-16,2.tif"};
  Words expected;
  for (const auto& way : ways) {
    const TempDir out;
    const Words command{
        "-q",       "texture",     p(),        "--operator",   "grid",           "--operator",
        "16,2",     "--contrast",  "--output", out / "h.json", "--output",       out / "h.csv",
        "--output", out / "h.svg", "--cells",  "16",           "--cells-output", out / "cells.npy",
        "--labels", out / "l.tif"};
    expect_run(0, command + way);
    Words found;
    for (const std::string& name : names) {
      found.push_back(bytes_of(out / name));
      EXPECT_GT(found.back().size(), 100u) << name;
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(out.path()), {}), 6);
    if (expected.empty()) expected = found;
    for (std::size_t i = 0; i < names.size(); ++i)
      EXPECT_TRUE(found[i] == expected[i]) << names[i] << " differs with " << testing::PrintToString(way);
  }
}

TEST_F(TextureProgram, CellsAddUpToThePicture) {
  expect_run(0, {"-q", "texture", p(), "--output", folder_ / "h.json", "--cells", "10", "--cells-output",
                 folder_ / "c.npy"});
  const Json record = load_json(folder_ / "h.json").at("textures").at(0);
  EXPECT_EQ(record.at("cells"),
            (Json{{"file", "c.npy"}, {"cell", 10}, {"columns", 16}, {"rows", 12}, {"features", 59}}));
  const std::string bytes = bytes_of(folder_ / "c.npy");
  ASSERT_EQ(bytes.size(), 128 + 12 * 16 * 59 * 4u);
  std::vector<std::uint64_t> sums(59);
  for (std::size_t i = 0; i < 12 * 16 * 59u; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + 128 + 4 * i, 4);
    sums[i % 59] += value;
  }
  EXPECT_EQ(record.at("histograms").at(0).at("bins").get<std::vector<std::uint64_t>>(), sums);
}

TEST_F(TextureProgram, LabelsAreEachPixelsBin) {
  expect_run(0, {"-q", "texture", p(), "--output", folder_ / "h.json", "--labels", folder_ / "l.tif",
                 "--border", "skip", "--tile", "50"});
  const auto labels = tiles::open_picture(folder_ / "l.tif");
  ASSERT_EQ(labels->info().width, 155);
  ASSERT_EQ(labels->info().height, 109);
  const Image<std::uint8_t> bins = read_luma(*labels);
  const LbpOperator op(8, 1);
  const LbpBins mapping(8, LbpMapping::uniform);
  for (int y = 0; y < 109; ++y) {
    for (int x = 0; x < 155; ++x)
      ASSERT_EQ(bins.view().at(x, y), mapping.bin(op.code(picture_.view(), x + 1, y + 1))) << x << ", " << y;
  }
}

TEST_F(TextureProgram, DamagedPartsAreNamedAndTheRestIsDone) {
  TiffKind kind;
  kind.samples = 1;
  kind.photometric = PHOTOMETRIC_MINISBLACK;
  kind.compression = COMPRESSION_ADOBE_DEFLATE;
  kind.tile = {64, 64};
  write_tiff(folder_ / "d.tif", kind, {300, 200});
  std::vector<char> bytes = load(folder_ / "d.tif");
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), 200, '\xff');
  store(folder_ / "d.tif", bytes);
  const Words command{"texture", folder_ / "d.tif", "--output", folder_ / "h.json"};
  const Outcome outcome = expect_run(1, command);
  const Json record = load_json(folder_ / "h.json").at("textures").at(0);
  ASSERT_FALSE(record.at("damage").empty());
  EXPECT_EQ(record.at("damage")[0].at("width"), 64);
  EXPECT_EQ(record.at("damage")[0].at("x").get<int>() % 64, 0);
  EXPECT_EQ(record.at("histograms")[0].at("pixels"), 60'000);
  EXPECT_THAT(outcome.out, HasSubstr("60,000 pixels"));
  expect_run(1, {"texture", "compare", folder_ / "h.json", p()});
  fs::remove(folder_ / "h.json");
  expect_run(3, "d.tif", command + Words{"--strict"});
  EXPECT_FALSE(fs::exists(folder_ / "h.json"));
}

TEST_F(TextureProgram, SeveralPicturesAndChannels) {
  media::test::make_clip(folder_ / "c.png", "testsrc2=size=90x60,trim=end_frame=1");
  const Outcome outcome = expect_run(0, {"texture", folder_ / "c.png", p(), "--channels", "rgb", "--output",
                                         folder_ / "h.json", "--shares"});
  EXPECT_THAT(outcome.out, HasSubstr("c.png: 5,400 pixels, u2, border reflect"));
  EXPECT_THAT(outcome.out, HasSubstr("p.png: 17,427 pixels, u2, border reflect"));
  const Json textures = load_json(folder_ / "h.json").at("textures");
  ASSERT_EQ(textures.size(), 2u);
  const Json& colour = textures[0].at("histograms");
  ASSERT_EQ(colour.size(), 3u);
  EXPECT_NE(colour[0].at("bins"), colour[2].at("bins")) << "red and blue";
  const Json& gray = textures[1].at("histograms");
  EXPECT_EQ(gray[0].at("bins"), gray[2].at("bins"));
  EXPECT_EQ(gray[0].at("bins").get<std::vector<std::uint64_t>>(),
            count(LbpOperator(8, 1), LbpMapping::uniform, BorderRule::reflect, 1));
  EXPECT_NEAR(gray[0].at("shares")[1].get<double>(), gray[0].at("bins")[1].get<double>() / 17427, 1e-12);
}

TEST_F(TextureProgram, OneOfSeveralThatCannotBeReadIsLeftOut) {
  const std::string broken = folder_ / "broken.png", output = folder_ / "x.json";
  std::ofstream(broken) << "no picture";
  expect_run(1, "skipped: ", {"texture", broken, p(), "--output", output});
  EXPECT_EQ(load_json(output).at("textures").size(), 1u);
  expect_run(3, "broken.png", {"texture", broken, p(), "--strict"});
  expect_run(3, {"texture", broken, broken});
}

TEST_F(TextureProgram, ComparesPicturesAndResults) {
  store_texture(folder_ / "q.png", {140, 120}, 9, 6);
  store_texture(folder_ / "r.png", {140, 120}, 3, 7);
  const auto compare = [&](const Words& what) {
    return Json::parse(expect_run(0, Words{"-q", "texture", "compare", "--json", "-"} + what).out);
  };
  const Json of_pictures = compare({p(), folder_ / "q.png", folder_ / "r.png"});
  EXPECT_EQ(of_pictures.at("names"), (Json{"p", "q", "r"}));
  const Json& d = of_pictures.at("distances");
  EXPECT_EQ(d[0][0], 0);
  EXPECT_EQ(d[0][1], d[1][0]);
  EXPECT_LT(d[0][1].get<double>(), 0.2 * d[0][2].get<double>());
  // Pictures are described as the results in a file are, which here is not the default of either command.
  expect_run(0, {"-q", "texture", p(), "--operator", "8,3", "--mapping", "ri", "--border", "skip", "--output",
                 folder_ / "p.json"});
  const Json mixed = compare({folder_ / "p.json", p(), folder_ / "q.png"});
  EXPECT_EQ(mixed.at("histograms"), "8,3 of luma by ri");
  EXPECT_EQ(mixed.at("distances")[0][1], 0);
  EXPECT_GT(mixed.at("distances")[0][2].get<double>(), 0);
  expect_run(2, {"texture", "compare", folder_ / "p.json", p(), "--mapping", "u2"});
  expect_run(2, {"texture", "compare", p()});
}

TEST_F(TextureProgram, NearestIsNamedByItsFolder) {
  for (const char* kind : {"coarse", "fine"}) {
    fs::create_directories(folder_ / ("known/" + std::string(kind)));
    for (int i = 0; i < 2; ++i) {
      store_texture(folder_ / ("known/" + std::string(kind) + "/" + std::to_string(i) + ".png"), {100, 90},
                    kind[0] == 'c' ? 9 : 3, 40 + i);
    }
  }
  const Outcome outcome = expect_run(0, {"-q", "texture", "nearest", p(), "--known", folder_ / "known",
                                         "--count", "2", "--json", folder_ / "n.json"});
  EXPECT_THAT(outcome.out, testing::ContainsRegex("p\\.png:  coarse 0\\.[0-9]+  coarse 0\\.[0-9]+\n"));
  const Json found = load_json(folder_ / "n.json").at("queries").at(0).at("nearest");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].at("name"), "coarse");
  // Results of all kinds can be mixed, and one that is known is at 0.
  expect_run(0, {"-q", "texture", folder_ / "known/fine/0.png", "--output", folder_ / "fine.json"});
  const Outcome same = expect_run(
      0, {"-q", "texture", "nearest", folder_ / "known/fine/0.png", "--known", folder_ / "fine.json", p()});
  EXPECT_THAT(same.out, HasSubstr("0.png:  0 0.00000  p "));
}

// A slide of 8x6 cells of 32 pixels: coarse stripes, fine ones, and two rows of cells that are flat.
class TextureClassify : public TextureProgram {
 protected:
  TextureClassify() {
    for (const auto& [name, period] : {std::pair{"coarse", 9}, std::pair{"fine", 3}}) {
      fs::create_directories(known() + "/" + name);
      for (int i = 0; i < 2; ++i)
        store_texture(known() + "/" + name + "/" + std::to_string(i) + ".png", {130, 100}, period, 60 + i);
    }
    const Image<std::uint8_t> coarse = made_up_texture({270, 200}, 9, 71);
    const Image<std::uint8_t> fine = made_up_texture({270, 200}, 3, 72);
    Image<std::uint8_t> slide(270, 200);
    for (int y = 0; y < 200; ++y) {
      for (int x = 0; x < 270; ++x)
        slide.view().at(x, y) = y >= 128 ? 200 : (x < 96 ? coarse : fine).view().at(x, y);
    }
    media::write_gray_png(folder_ / "slide.png", slide.view());
  }
  std::string known() const { return folder_ / "known"; }
  Words classify(const Words& more) const {
    return Words{"-q", "texture", "classify", folder_ / "slide.png", "--known", known(), "--cells", "32"} +
           more;
  }

  TempDir out_;
};

TEST_F(TextureClassify, MapsAMadeSlide) {
  expect_run(0,
             classify({"--limit", "0.8", "-o", out_ / "m.json", "-o", out_ / "m.csv", "-o", out_ / "m.png"}));
  const Json map = load_json(out_ / "m.json");
  const Json coarse_and_fine{0, 0, 0, 1, 1, 1, 1, 1}, flat{-1, -1, -1, -1, -1, -1, -1, -1};
  EXPECT_EQ(map.at("class"),
            (Json{coarse_and_fine, coarse_and_fine, coarse_and_fine, coarse_and_fine, flat, flat}));
  EXPECT_EQ(map.at("columns"), 8);
  EXPECT_EQ(map.at("classes")[1].at("name"), "fine");
  EXPECT_EQ(map.at("classes")[1].at("known_cells"), 2 * 4 * 3);
  EXPECT_EQ(map.at("classes")[1].at("limit"), 0.8);
  EXPECT_DOUBLE_EQ(map.at("classes")[1].at("share").get<double>(), 20.0 / 48);
  EXPECT_EQ(map.at("unknown").at("cells"), 16);
  EXPECT_EQ(map.at("second")[0][0], 1);
  EXPECT_LT(map.at("distances")[0][0].get<double>(), map.at("second_distances")[0][0].get<double>());
  EXPECT_GT(map.at("distances")[5][0].get<double>(), 0.8);

  std::istringstream csv(bytes_of(out_ / "m.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "column,row,x,y,class,distance,nearest,second,second_distance");
  for (int i = 0; i < 1 + 8 + 3; ++i) std::getline(csv, line);
  EXPECT_THAT(line, testing::MatchesRegex("3,1,96,32,fine,0\\.[0-9]+,fine,coarse,[0-9.]+"));

  // Each cell has the colour of its class.
  const auto picture = tiles::open_picture(out_ / "m.png");
  const auto colour_of = [&](std::int64_t column, std::int64_t row) {
    using tiles::Channel;
    const auto planes = read_planes(*picture, {24 + 48 * column + 24, 62 + 48 * row + 24, 1, 1},
                                    {Channel::red, Channel::green, Channel::blue});
    char text[8];
    std::snprintf(text, sizeof text, "#%02x%02x%02x", planes[0].view().at(0, 0), planes[1].view().at(0, 0),
                  planes[2].view().at(0, 0));
    return std::string(text);
  };
  EXPECT_EQ(colour_of(2, 3), map.at("classes")[0].at("colour"));
  EXPECT_EQ(colour_of(3, 3), map.at("classes")[1].at("colour"));
  EXPECT_EQ(colour_of(3, 4), map.at("unknown").at("colour"));
}

TEST_F(TextureClassify, FilesDependOnNothingButThePictures) {
  Words expected;
  for (const Words& way :
       {Words{}, Words{"--tile", "64", "--threads", "1"}, Words{"--tile", "32", "--in-flight", "7"}}) {
    const TempDir out;
    expect_run(0, classify(Words{"-o", out / "m.json", "-o", out / "m.csv", "-o", out / "m.png"} + way));
    const Words found{bytes_of(out / "m.json"), bytes_of(out / "m.csv"), bytes_of(out / "m.png")};
    if (expected.empty()) expected = found;
    EXPECT_TRUE(found == expected) << testing::PrintToString(way);
    EXPECT_EQ(Json::parse(found[0]).at("unknown").at("cells").get<int>() >= 16, true) << "the flat cells";
  }
}

TEST_F(TextureClassify, Misuse) {
  const auto refused = [&](int code, const Words& command) {
    expect_run(code, command + Words{"-o", out_ / "m.png"});
    EXPECT_TRUE(fs::is_empty(out_.path())) << testing::PrintToString(command);
  };
  const auto with_known = [&](const std::string& folder, const std::string& cells = "32") {
    return Words{"texture", "classify", folder_ / "slide.png", "--known", folder, "--cells", cells};
  };
  refused(2, classify({"--cells", "8"}));  // operator 16,4 looks at 9x9 pixels
  refused(2, classify({"-o", out_ / "m.xml"}));
  refused(2, {"texture", "classify", folder_ / "slide.png"});
  refused(3, with_known(known(), "128"));  // no whole cell in a sample
  fs::create_directories(folder_ / "empty");
  refused(3, with_known(folder_ / "empty"));
  refused(3, with_known(folder_ / "missing"));
  refused(3, with_known(known() + "/fine/0.png"));
  fs::create_directories(folder_ / "broken");
  std::ofstream(folder_ / "broken/a.png") << "no picture";
  refused(3, with_known(folder_ / "broken"));
  refused(3, {"texture", "classify", folder_ / "broken/a.png", "--known", known()});
  refused(3, {"texture", "classify", known() + "/fine/0.png", "--known", known(), "--cells", "101"});
  expect_run(0, {"-q", "texture", p(), "--output", folder_ / "p.json"});
  refused(2, with_known(folder_ / "p.json"));
}

TEST_F(TextureProgram, EvaluateCountsWhatIsNearest) {
  fs::create_directories(folder_ / "textures");
  for (const int period : {3, 5, 9}) {
    store_texture(folder_ / ("textures/t" + std::to_string(period) + ".png"), {130, 100}, period,
                  50 + period);
  }
  const Outcome outcome = expect_run(
      0, {"evaluate", "texture", folder_ / "textures", "--tiles", "32", "--json", folder_ / "e.json"});
  EXPECT_THAT(outcome.out, HasSubstr("3 textures, 18 known tiles of 32x32 and 18 others"));
  EXPECT_THAT(outcome.out, HasSubstr("18 of 18 right, 100%"));
  const Json json = load_json(folder_ / "e.json");
  EXPECT_EQ(json.at("others").at("confusion"), (Json{{6, 0, 0}, {0, 6, 0}, {0, 0, 6}}));
  const Outcome known =
      expect_run(0, {"evaluate", "texture", folder_ / "textures", "--tiles", "32", "--known-only"});
  EXPECT_THAT(known.out, testing::Not(HasSubstr("the other tiles")));
  expect_run(3, "128 pixels", {"evaluate", "texture", folder_ / "textures"});
}

TEST_F(TextureProgram, Misuse) {
  const Words texture{"texture", p()};
  expect_run(2, {"texture"});
  expect_run(3, {"texture", folder_ / "none.tif"});
  expect_run(2, "--tile 96",
             texture + Words{"--tile", "100", "--cells", "32", "--cells-output", folder_ / "c.npy"});
  expect_run(2, "--cells-output", texture + Words{"--cells", "32"});
  expect_run(2, "of 7 points", texture + Words{"--operator", "7,1"});
  expect_run(2, "'yellow'", texture + Words{"--channels", "red,yellow"});
  expect_run(2, "'5'", texture + Words{"--range", "5"});
  expect_run(2, ".json", texture + Words{"--output", folder_ / "h.xml"});
  expect_run(2, texture + Words{"--output", folder_ / "h.csv", "--output", folder_ / "h.csv"});
  expect_run(1, texture + Words{"--output", "/nowhere/h.json"});
  expect_run(2, texture + Words{"--labels", p()});
  expect_run(2, texture + Words{p(), "--labels", folder_ / "l.tif"});
  expect_run(2, "'texture compare'", {"texture", "compare", p(), p(), "--contrast"});
  expect_run(2, "--operator", {"texture", "--operator", "8,1", "compare", p(), p()});
  store_texture(folder_ / "tiny.png", {6, 40}, 3, 1);
  expect_run(3, {"texture", folder_ / "tiny.png", "--operator", "8,3", "--border", "skip"});
  EXPECT_FALSE(fs::exists(folder_ / "c.npy"));
}

TEST_F(TextureProgram, StoppedRunsLeaveNothing) {
  store_texture(folder_ / "large.png", {4000, 4000}, 9, 3);
  Words command{"texture",
                folder_ / "large.png",
                "--tile",
                "64",
                "--contrast",
                "--cells",
                "16",
                "--threads",
                "1",
                "--cells-output",
                folder_ / "out/c.npy",
                "--output",
                folder_ / "out/h.json",
                "--labels",
                folder_ / "out/l.tif"};
  for (const char* one : {"grid", "8,1", "8,2", "16,2", "16,3", "16,4"})
    command.insert(command.end(), {"--operator", one});
  fs::create_directories(folder_ / "out");
  Program program(command);
  ASSERT_TRUE(program.wait_until([&] { return !unfinished(folder_ / "out/c.npy").empty(); }));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 128 + SIGINT) << outcome.err;
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
}

// A terminal runs control characters: they could change its title, hide text or answer for the user.
TEST_F(TextureProgram, NamesOfFilesReachNoTerminalAsTheyAre) {
  const std::string name = folder_ / "a\x1b]0;title\x07\u202egnp.png";
  fs::copy_file(p(), name);
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) GTEST_SKIP() << "no pseudo-terminal: " << std::strerror(errno);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  RunSetup setup;
  setup.output_handle = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(setup.output_handle, 0);
  const Outcome outcome = expect_run(0, {"texture", name}, setup);
  std::string shown;
  char block[4096];
  for (ssize_t size = 0; (size = read(terminal, block, sizeof block)) > 0;)
    shown.append(block, static_cast<std::size_t>(size));
  close(terminal);
  const Outcome missing = expect_run(3, {"texture", name + ".missing"});
  const Outcome misspelt = expect_run(2, {"texture", "--x\x1b[31m"});
  EXPECT_THAT(shown, HasSubstr("a\\x1b]0;title\\x07\\u202egnp.png"));
  for (const std::string& text : {shown, outcome.err, missing.err, misspelt.err}) {
    for (const char* bad : {"\x1b", "\x07", "\u202e"}) EXPECT_THAT(text, Not(HasSubstr(bad)));
  }
}

TEST_F(TextureProgram, SpeedIsMeasuredBySizeAndWorkGroup) {
  std::vector<std::string> command{"measure",  "texture",    p(),         "--sizes", "64,96",
                                   "--groups", "1,2",        "--repeats", "2",       "--device",
                                   "none",     "--variants", "global",    "--json",  folder_ / "t.json"};
  EXPECT_THAT(expect_run(0, "", command).out, HasSubstr("side 96: 1 picture, 96x96"));
  Json json = load_json(folder_ / "t.json");
  EXPECT_EQ(json.at("cpu").size(), 2u);
  EXPECT_EQ(json.at("cpu")[1].at("size"), 96);
  for (const char* key : {"serial_ms", "one_thread_ms", "threads_ms", "read_ms", "increments_ms"})
    EXPECT_GT(json.at("cpu")[1].at(key).get<double>(), 0) << key;
  EXPECT_TRUE(json.at("devices").empty());
  if (!has_cpu_device(1)) GTEST_SKIP() << "there is no OpenCL CPU device here";
  command[10] = "cpu";
  command.push_back("--overwrite");
  expect_run(0, "", command);
  json = load_json(folder_ / "t.json").at("devices").at(0);
  EXPECT_EQ(json.at("sizes"), Json({64, 96}));
  EXPECT_EQ(json.at("read_ms").size(), 2u);
  EXPECT_EQ(json.at("by_size").size(), 2u * 3) << "global, only its writes, and what is tuned";
  EXPECT_EQ(json.at("by_size")[5].at("variant"), "tuned");
  EXPECT_EQ(json.at("by_group").size(), 2u * 2);
  EXPECT_EQ(json.at("by_group")[3].at("group"), 2);
  for (const char* key : {"kernel_ms", "host_ms", "ordinary_ms", "whole_ms"})
    EXPECT_GT(json.at("by_group")[3].at(key).get<double>(), 0) << key;
}

}  // namespace
}  // namespace sightline::test
