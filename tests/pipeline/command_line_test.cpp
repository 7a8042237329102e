// The command line explains itself: versions, manual pages, what the shell completes, and what was misspelt.

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/columns.hpp"
#include "support/child_process.hpp"
#include "support/media.hpp"
#include "support/program.hpp"
#include "support/variable.hpp"

namespace sightline::test {
namespace {

using media::test::make_clip;

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string out_of(const Words& arguments) {
  const Outcome outcome = expect_run(0, arguments);
  return outcome.out;
}

// What the program writes for a command line that several tests use: it runs once for all of them.
const std::string& known_out_of(const Words& arguments) {
  static std::map<Words, std::string> known;
  const auto [found, is_new] = known.try_emplace(arguments);
  if (is_new) found->second = out_of(arguments);
  return found->second;
}
std::string help_of(const Words& command) {
  return known_out_of(command + Words{"--help"});
}
// The file of a manual page. One run writes all pages.
std::string page_file(const Words& command) {
  static const TempDir folder;
  if (files_in(folder.path()) == 0) expect_run(0, {"manual", "--folder", folder.path()});
  std::string name = "sightline";
  for (const std::string& word : command) name += "-" + word;
  return folder / (name + ".1");
}
std::string manual_of(const Words& command) {
  return bytes_of(page_file(command));
}

// What the program offers for the last word, without what it means.
Words offered(const Words& words) {
  Words values;
  for (const std::string& line : lines_of(out_of(Words{"complete", "--"} + words)))
    values.push_back(line.substr(0, line.find('\t')));
  return values;
}

// The options that `--help` lists.
std::set<std::string> options_in_help(const Words& command) {
  std::set<std::string> options;
  const std::regex option(R"(^  (?:-\w,)?(--[a-z-]+))");
  for (const std::string& line : lines_of(help_of(command))) {
    std::smatch found;
    if (std::regex_search(line, found, option)) options.insert(found[1]);
  }
  return options;
}

const std::vector<Words> kCommands = [] {
  std::istringstream all(
      ",detect,diff,live,label,measure,evaluate,evaluate windows,samples,batch,batch plan,"
      "batch plan texture,batch submit,batch work,batch status,batch merge,train,evaluate frames,"
      "evaluate compare,evaluate landmarks,evaluate verify,evaluate identify,evaluate texture,"
      "evaluate classes,"
      "measure texture,texture,texture compare,texture nearest,texture classify,train filterbank,"
      "train waldboost,train census,train cascade,train landmarks,train recognition,faces,"
      "faces add,faces list,faces show,faces rename,faces merge,faces delete,faces export,"
      "faces import,faces calibrate,config,config list,config show,config copy,model,"
      "model show,network,network get,network explain,network compare,devices,tune");
  std::vector<Words> commands;
  for (std::string words; std::getline(all, words, ',');) commands.push_back(words_of(words));
  return commands;
}();

TEST(CommandLine, VersionListsWhatItIsBuiltOn) {
  const Words lines = lines_of(out_of({"--version"}));
  ASSERT_GT(lines.size(), 10u);
  EXPECT_TRUE(std::regex_match(lines[0], std::regex(R"(sightline \d+\.\d+\.\d+ \(\w+ build\))"))) << lines[0];
  EXPECT_EQ(lines[1], "");
  std::set<std::string> names;
  std::size_t column = 0;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    const std::size_t gap = lines[i].find("  ");
    ASSERT_NE(gap, std::string::npos) << lines[i];
    names.insert(lines[i].substr(0, gap));
    const std::size_t value = lines[i].find_first_not_of(' ', gap);
    if (column == 0) column = value;
    EXPECT_EQ(value, column) << lines[i];
    EXPECT_TRUE(std::regex_search(lines[i], std::regex(R"(\d+\.\d+)"))) << lines[i];
  }
  for (const char* name :
       {"libavformat", "libavcodec", "libavutil", "libswscale", "OpenCL", "oneTBB", "Highway", "cairo",
        "spdlog", "toml++", "nlohmann-json", "pugixml", "CLI11", "compiler"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(CommandLine, EveryCommandHasAPageWithAllItsOptions) {
  std::set<std::string> pages;
  for (const std::string& name : lines_of(out_of({"manual", "--list"}))) pages.insert(name);
  EXPECT_EQ(pages.size(), kCommands.size());
  for (const Words& command : kCommands) {
    std::string name = "sightline";
    for (const std::string& word : command) name += "-" + word;
    SCOPED_TRACE(name);
    EXPECT_TRUE(pages.contains(name));
    const std::string page = manual_of(command);
    for (const char* section : {".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXIT STATUS"})
      EXPECT_NE(page.find(section), std::string::npos) << section;
    const std::set<std::string> options = options_in_help(command);
    EXPECT_TRUE(options.contains("--help"));
    for (const std::string& option : options) {
      const std::string written = std::regex_replace(option, std::regex("-"), "\\-");
      EXPECT_NE(page.find("\\fB" + written + "\\fR"), std::string::npos) << option;
    }
  }
}

TEST(CommandLine, HelpFitsTheTerminal) {
  for (const std::string columns : {"80", "61"}) {
    const Variable width("COLUMNS", columns);
    for (const Words& command :
         {Words{}, Words{"detect"}, Words{"evaluate", "frames"}, Words{"batch", "plan"}}) {
      for (const std::string& line : lines_of(out_of(command + Words{"--help"})))
        EXPECT_LE(columns_of(line), std::stoul(columns)) << line;
    }
  }
}

TEST(CommandLine, PagesAreGoodRoff) {
  const std::string groff = find_program("groff");
  if (groff.empty()) GTEST_SKIP() << "no groff";
  Words words{groff, "-man", "-ww", "-Tascii", "-z"};
  for (const Words& command : kCommands) words.push_back(page_file(command));
  ChildProcess check(words);
  EXPECT_EQ(check.wait(60), 0);
  EXPECT_EQ(check.output(), "");
}

TEST(CommandLine, CompletesSubcommands) {
  EXPECT_EQ(offered({"de"}), (Words{"detect", "devices"}));
  EXPECT_EQ(offered({"evaluate", ""}),
            (Words{"windows", "frames", "compare", "landmarks", "verify", "identify", "classes", "texture"}));
  EXPECT_EQ(offered({"-q", "tr"}), (Words{"train"}));
  const Words all = offered({""});
  EXPECT_EQ(all.size(), 16u) << "and none that --help does not list";
}

TEST(CommandLine, CompletesOptionsOfTheCommandAndOfTheProgram) {
  EXPECT_EQ(offered({"detect", "--sched"}), (Words{"--schedule"}));
  EXPECT_EQ(offered({"detect", "in.mp4", "--verb"}), (Words{"--verbose"}));
  EXPECT_EQ(offered({"devices", "--sched"}), (Words{}));
  // What stands there already, and may not again, is not offered.
  EXPECT_EQ(offered({"detect", "--schedule", "cpu", "--sched"}), (Words{}));
  for (const Words& command : kCommands) {
    const Words found = offered(command + Words{"--"});
    const std::set<std::string> all(found.begin(), found.end());
    EXPECT_EQ(all.size(), found.size());
    for (const std::string& option : options_in_help(command)) EXPECT_TRUE(all.contains(option)) << option;
  }
}

TEST(CommandLine, CompletesValues) {
  EXPECT_EQ(offered({"detect", "--schedule", "sp"}), (Words{"specialized", "split"}));
  EXPECT_EQ(offered({"detect", "--schedule=sp"}), (Words{"--schedule=specialized", "--schedule=split"}));
  EXPECT_EQ(offered({"live", "--hud", ""}), (Words{"full", "compact", "off"}));
  EXPECT_EQ(offered({"detect", "-c", "faces"}),
            (Words{"faces", "faces-eyes", "faces-opencv", "faces-profile", "faces-waldboost", ":files"}));
  EXPECT_EQ(offered({"measure", "in.mp4", "--schedules", "cpu,ga"}), (Words{}));
  EXPECT_EQ(offered({"measure", "in.mp4", "--schedules", "cpu,gp"}), (Words{"cpu,gpu"}));
  EXPECT_EQ(offered({"detect", "--encoder", "libx264r"}), (Words{"libx264rgb"}));
  EXPECT_EQ(offered({"detect", "--device", "aut"}), (Words{"auto"}));
  EXPECT_EQ(offered({"detect", "--min-size", ""}), (Words{})) << "a number";
  EXPECT_EQ(offered({"detect", "--output", ""}), (Words{":files"}));
  EXPECT_EQ(offered({"detect", ""}), (Words{":files"})) << "an input";
  EXPECT_EQ(offered({"detect", "--", "--schedule", ""}), (Words{":files"}));
}

// A number that is none is in no range and in none of our loops either: it would never be reached.
TEST(CommandLine, RefusesWhatIsNoNumber) {
  const std::vector<Words> lines{
      {"live", "--headless", "--duration", "nan"},
      {"live", "--headless", "--status", "NAN"},
      {"detect", "a", "--threshold", "-nan"},
      {"detect", "a", "--track", "--track-gap", "nan"},
      {"detect", "a", "--track", "--track-start", "nan(1)"},
      {"measure", "a", "--seconds", "nan"},
      {"model", "show", "a", "--survivors", "b", "--scale-step", "nan"},
      {"train", "filterbank", "--positives", "a", "--negatives", "b", "--scale-step", "nan"}};
  for (const Words& words : lines) expect_run(2, words[words.size() - 2], words);
}

TEST(CommandLine, RefusesNumbersOutOfRange) {
  for (const auto& [option, value] : {std::pair{"--start", "-1"},
                                      {"--duration", "0"},
                                      {"--duration", "inf"},
                                      {"--duration", "soon"},
                                      {"--threads", "many"},
                                      {"--threads", ""},
                                      {"--threads", "2.5"},
                                      {"--threads", "2000"},
                                      {"--split", "1"},
                                      {"--filters", "3x"}})
    expect_run(2, option, {"detect", "a", option, value});
  expect_run(2, "--duration", {"live", "--duration"});
}

// Whatever takes a number refuses a text.
TEST(CommandLine, EveryNumberRefusesText) {
  const std::regex number(
      R"(^  (?:-\w,)?(--[a-z-]+) (N|PX|SECONDS|FPS|RATIO|SCORE|SHARE|DEGREES|MIB|PIXELS|FRAMES|TIMES)(?: |$))");
  int numbers = 0;
  for (const Words& command :
       std::vector<Words>{{"detect"}, {"measure"}, {"texture"}, {"train", "waldboost"}}) {
    for (const std::string& line : lines_of(help_of(command))) {
      std::smatch found;
      if (!std::regex_search(line, found, number)) continue;
      ++numbers;
      expect_run(2, found[1], command + Words{found[1], "abc"});
    }
  }
  EXPECT_GT(numbers, 60);
}

TEST(CommandLine, HelpIsForTheCommandAndTheBareProgramListsCommands) {
  const std::string bare = out_of({});
  for (const char* command : {"detect", "live", "measure", "faces", "model"})
    EXPECT_NE(bare.find(std::string("\n  ") + command + ' '), std::string::npos) << command;
  const std::string whole = out_of({"detect", "--help"}), brief = out_of({"detect", "-h"});
  EXPECT_EQ(out_of({"help", "detect"}), whole);
  EXPECT_LT(lines_of(brief).size(), lines_of(whole).size() / 2);
  for (const std::string& text : {whole, brief}) {
    EXPECT_NE(text.find("--output"), std::string::npos);
    EXPECT_NE(text.find("Examples:"), std::string::npos);
    EXPECT_EQ(text.find("--instruction-set"), std::string::npos);  // the program's, not the command's
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 110U) << line;
  }
}

// The options of a command's --help with what their values are called.
std::map<std::string, std::string> value_names(const Words& command) {
  std::map<std::string, std::string> names;
  const std::regex option(R"(^  (?:-\w,)?(--[a-z-]+)(?: ([A-Z]\S*))?(?: |$))");
  for (const std::string& line : lines_of(help_of(command))) {
    std::smatch found;
    if (std::regex_search(line, found, option)) names[found[1]] = found[2];
  }
  return names;
}

TEST(CommandLine, HelpNamesValuesByWhatTheyAre) {
  std::map<std::string, std::string> live = value_names({"live"});
  for (const auto& [option, value] : std::map<std::string, std::string>{{"--map", "STAGE=PLACE,..."},
                                                                        {"--size", "WxH"},
                                                                        {"--hold", "FPS"},
                                                                        {"--min-size", "PX"},
                                                                        {"--duration", "SECONDS"},
                                                                        {"--report", "FILE"},
                                                                        {"--track", ""}})
    EXPECT_EQ(live[option], value) << option;
  for (const Words& command : kCommands) {
    const std::string page = manual_of(command);
    for (const auto& [option, value] : value_names(command)) {
      for (const char* type : {"X", "TEXT", "FLOAT", "INT", "UINT", "NUMBER"})
        EXPECT_NE(value, type) << option;
      if (value.empty()) continue;
      const std::string written = std::regex_replace(option, std::regex("-"), "\\-");
      EXPECT_NE(page.find("\\fB" + written + "\\fR \\fI" + value), std::string::npos)
          << option << ' ' << value;
    }
  }
}

TEST(CommandLine, ShortHelpHasWholeLines) {
  const std::string brief = out_of({"detect", "-h"});
  EXPECT_NE(brief.find("Page (HTML): "), std::string::npos);
  for (const std::string& line : lines_of(brief)) EXPECT_FALSE(line.ends_with("  Page")) << line;
}

TEST(CommandLine, HelpListsOptionsUnderTheirFamily) {
  std::map<std::string, std::string> headings;
  std::string heading;
  for (const std::string& line : lines_of(help_of({"detect"}))) {
    if (!line.empty() && line[0] != ' ') heading = line;
    const std::size_t option = line.find("--");
    if (line.starts_with("  -") && option != std::string::npos)
      headings[line.substr(option, line.find_first_of(" ", option) - option)] = heading;
  }
  EXPECT_EQ(headings["--threshold"], "Detector:");
  EXPECT_EQ(headings["--filters"], "Detector: filter banks:");
  EXPECT_EQ(headings["--min-neighbors"], "Detector: cascades:");
  EXPECT_EQ(headings["--phases"], "Detector: WaldBoost detectors:");
  EXPECT_EQ(headings["--border"], "Detector: filter banks, WaldBoost detectors, census cascades:");
}

TEST(CommandLine, HelpForWhatIsNotThereIsAnError) {
  expect_run(2, "'bogus'", {"help", "bogus"});
  expect_run(2, "'detect'", {"help", "detekt"});
  expect_run(2, "'copy'", {"help", "config", "coppy"});
  expect_run(2, "'detect'", {"help", "detect", "street"});
  expect_run(2, "'detect'", {"detekt", "--help"});
  expect_run(2, "'list'", {"faces", "lits", "-h"});
  expect_run(2, "'detect'", {"manual", "detekt"});
}

TEST(CommandLine, SuggestsModelsAndKeys) {
  expect_run(4, "'people'", {"model", "show", "peple"});
  TempDir folder;
  const std::string config = folder / "own.toml";
  media::test::store(config, "[detector]\nmin_sise = 30\n");
  expect_run(2, "'min_size'", {"detect", moving_clip(200, 240, 1), "--config", config});
}

TEST(CommandLine, UsageErrorsBeginAlike) {
  for (const Words& words : std::vector<Words>{{"detekt"},
                                               {"detect"},
                                               {"detect", "a", "--bogus"},
                                               {"detect", "a", "--quality", "99"},
                                               {"detect", "lavfi:testsrc", "--config", "peple"},
                                               {"model"}}) {
    const Outcome outcome = expect_run(2, words);
    EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
  }
  expect_run(2, "'people'", {"detect", "lavfi:testsrc", "--config", "peple"});
}

TEST(CommandLine, ShippedModelsGoByName) {
  TempDir folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_NE(out_of({"model", "show", "people"}).find("sightline.filterbank"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));  // a picture only when asked
  std::filesystem::current_path(before);
  const std::string clip = moving_clip(200, 240, 1);
  for (const char* model : {"faces", "faces-waldboost"}) expect_run(0, {"detect", clip, "--model", model});
  // Former names are those of what took their place.
  const auto found = [&](const char* option, const char* name) {
    return expect_run(0, {"-q", "detect", clip, option, name, "--device", "none"}).out;
  };
  for (const char* option : {"--model", "--config"}) {
    EXPECT_EQ(found(option, "faces-census"), found(option, "faces"));
    EXPECT_EQ(found(option, "faces-waldboost-fast"), found(option, "faces-waldboost"));
  }
  // Also in configurations of one's own.
  for (const char* model : {"faces-census", "models/faces-census.safetensors"}) {
    const std::string own = folder / "own.toml";
    store(own, "[detector]\nfamily = \"census\"\nmodel = \"" + std::string(model) + "\"\n");
    EXPECT_EQ(found("--config", own.c_str()), found("--config", "faces")) << model;
  }
}

// Paths of models are relative to the configuration, and names of shipped models hold everywhere.
TEST(CommandLine, OwnConfigurationsFindTheirModels) {
  const TempDir folder;
  const std::string clip = moving_clip(200, 240, 1), own = folder / "own.toml";
  const std::filesystem::path configs = std::filesystem::path(SIGHTLINE_SOURCE_DIR) / "configs";
  std::filesystem::copy_file(configs / "people.toml", own);
  expect_run(0, {"detect", clip, "--config", own});
  const auto detect_with = [&](int code, const std::string& words, const std::string& model) {
    store(own, "[detector]\nmodel = \"" + model + "\"\n");
    expect_run(code, words, {"detect", clip, "--config", own});
  };
  for (const char* name : {"people", "people.safetensors", "models/people.safetensors"})
    detect_with(0, "", name);
  detect_with(4, "nobody", "nobody");
  store(folder / "people", std::string("not a model"));  // the file beside the configuration comes first
  detect_with(4, folder / "people", "people");
}

TEST(CommandLine, ConfigurationsAreListedShownAndCopied) {
  const TempDir folder;
  const std::string clip = moving_clip(200, 240, 1);
  EXPECT_NE(out_of({"config", "list"}).find("people "), std::string::npos);
  EXPECT_EQ(out_of({"config", "show", "people"}),
            bytes_of(std::filesystem::path(SIGHTLINE_SOURCE_DIR) / "configs/people.toml"));
  for (const std::string name : {"people", "faces", "faces-census", "people-and-faces"}) {
    const std::string copy = folder / (name + ".toml");
    expect_run(0, {"config", "copy", name, copy});
    expect_run(0, {"detect", clip, "--config", copy});
    expect_run(2, "--overwrite", {"config", "copy", name, folder.path()});
    expect_run(0, {"config", "copy", name, copy, "--overwrite"});
  }
  expect_run(2, "'people'", {"config", "copy", "peple", folder / "peple.toml"});
  expect_run(1, "nowhere", {"config", "copy", "people", folder / "nowhere/people.toml"});
  expect_run(2, "shipped", {"config", "show", folder / "people.toml"});
}

// What is offered must be taken.
TEST(CommandLine, OffersWhatIsAccepted) {
  const std::string clip = moving_clip(200, 240, 1);
  for (const char* option : {"--format", "--schedule", "--arithmetic", "--config"}) {
    const Words values = offered({"detect", option, ""});
    EXPECT_GT(values.size(), 1u) << option;
    for (const std::string& value : values) {
      if (value == ":files") continue;
      const Outcome outcome = run({"-q", "detect", clip, "--device", "none", option, value});
      // A schedule may need a device, and a configuration what another package brings; but they are known.
      const bool needs_device = outcome.err.find("needs an OpenCL device") != std::string::npos;
      EXPECT_TRUE(needs_device || outcome.err.find("'" + value + "'") == std::string::npos) << outcome.err;
      EXPECT_LE(outcome.exit_code, 4);
    }
  }
  for (const std::string& name : offered({"--instruction-set", ""}))
    expect_run(0, {"-q", "--instruction-set", name, "detect", clip});
}

// Former names of options: they work, and nobody need know.
TEST(CommandLine, HiddenAliasesWorkAndAreShownNowhere) {
  struct Renamed {
    Words command;
    std::string former;
    std::string name;
  };
  const std::vector<Renamed> all{{{"detect"}, "--real-levels", "--computed-scales"},
                                 {{"evaluate", "windows"}, "--real-levels", "--computed-scales"},
                                 {{"train", "filterbank"}, "--close-copies", "--jittered-copies"},
                                 {{"train", "filterbank"}, "--covered-copies", "--occluded-copies"},
                                 {{"train", "filterbank"}, "--negative-copies", "--augmented-negatives"}};
  for (const Renamed& one : all) {
    SCOPED_TRACE(one.former);
    const std::set<std::string> options = options_in_help(one.command);
    EXPECT_TRUE(options.contains(one.name));
    EXPECT_FALSE(options.contains(one.former));
    EXPECT_EQ(offered(one.command + Words{one.former}), (Words{}));
    const std::string page = manual_of(one.command);
    EXPECT_EQ(page.find(std::regex_replace(one.former, std::regex("-"), "\\-")), std::string::npos);
    // Its value is checked as that of the new name is.
    expect_run(2, one.command + Words{one.former, "-3"});
  }
  const std::string clip = moving_clip(200, 240, 1);
  const auto found = [&](const std::string& option) {
    return out_of(
        {"-q", "detect", clip, "--device", "none", "--no-verify", "--threshold", "-4", option, "1"});
  };
  EXPECT_EQ(found("--real-levels"), found("--computed-scales"));
  expect_run(2, "--computed-scales", {"detect", clip, "-c", "faces", "--real-levels", "2"});
}

TEST(CommandLine, BashCompletes) {
  const std::string bash = find_program("bash");
  if (bash.empty()) GTEST_SKIP() << "no bash";
  const auto completed = [&](const std::string& typed) {
    const std::string script = "source " SIGHTLINE_SOURCE_DIR "/apps/completion/sightline.bash; COMP_LINE='" +
                               std::string(SIGHTLINE_PROGRAM) + " " + typed +
                               "'; COMP_POINT=${#COMP_LINE}; _sightline; printf '%s\\n' \"${COMPREPLY[@]}\"";
    ChildProcess child({bash, "--norc", "-c", script});
    EXPECT_EQ(child.wait(20), 0);
    return words_of(child.output());
  };
  EXPECT_EQ(completed("dev"), (Words{"devices"}));
  EXPECT_EQ(completed("detect --schedule sp"), (Words{"specialized", "split"}));
  // Of "--schedule=sp", bash replaces what is behind the sign.
  EXPECT_EQ(completed("detect --schedule=sp"), (Words{"specialized", "split"}));
  EXPECT_EQ(completed("train "),
            (Words{"filterbank", "waldboost", "census", "cascade", "landmarks", "recognition"}));
  EXPECT_EQ(completed("detect "), (Words{})) << "files are bash's own";
}

TEST(CommandLine, MisspeltOption) {
  expect_run(2, "'--threshold'", {"detect", "in.mp4", "--thresold", "0.1"});
  expect_run(2, "'--min-size'", {"detect", "in.mp4", "--min-siz=60"});
  expect_run(2, "'--verbose'", {"devices", "--verbos"});
  expect_run(2, "'--sampling'", {"train", "filterbank", "--samplin", "contrast"});
  // Even where something required is missing for it.
  expect_run(2, "'--positives'", {"train", "filterbank", "--postives", "a", "--negatives", "b"});
  expect_run(2, "'--threshold'", {"--threshold", "1", "detect", "in.mp4"});
  expect_run(2, "'--bogus'", {"detect", "in.mp4", "--bogus"});
}

// Also what the parser finds by itself is said in the program's words.
TEST(CommandLine, WrongUsesSayWhatToDo) {
  const TempDir folder;
  const std::string picture = folder / "a.png";
  make_clip(picture, "testsrc2=size=96x160,trim=end_frame=1");
  const struct {
    Words words;
    std::string fact;
  } cases[] = {
      {{"measure", "a.mp4", "b.mp4"}, "one input"},
      {{"devices", "a.mp4"}, "no input"},
      {{"faces"}, "add"},
      {{"detect"}, "input"},
      {{"faces", "add", "a.jpg"}, "--name"},
      {{"detect", "a.mp4", "--model", ""}, "--model"},
      {{"detect", "a.mp4", "--config", ""}, "--config"},
      {{"detect", "a.mp4", "--device", ""}, "--device"},
      {{"detect", "a.mp4", "--model", "a.onnx", "--model", "b.onnx"}, "--model"},
      {{"detect", "a.mp4", "--config", "people", "-c", "faces"}, "--config"},
      {{"detect", "a.mp4", "-q", "-v"}, "--quiet"},
      {{"texture", "a.png", "--cells", "8"}, "--cells-output"},
      {{"detect", "a.mp4", "--start", "1:60x"}, "1:60x"},
      {{"detect", picture, "--confidence", "0.5", "--threshold", "1"}, "--confidence"},
      {{"detect", picture, "--hold", "25"}, "--hold"},
      {{"detect", picture, "--report", "page.pdf"}, ".html"},
      {{"detect", picture, "--trace", "trace.txt"}, ".json"},
      {{"detect", picture, "-d", "found.png"}, ".jsonl"},
      {{"model", "show", "people", "--picture", "people.jpg"}, ".png"},
      {{"train", "filterbank", "--positives", "a", "--negatives", "b", "-o", "m.txt"}, ".safetensors"},
  };
  for (const auto& one : cases) {
    const Outcome outcome = expect_run(2, one.fact, one.words);
    for (const char* raw : {"required", "excludes", "requires", "At Most", "expected"})
      EXPECT_EQ(outcome.err.find(raw), std::string::npos) << outcome.err;
  }
}

TEST(CommandLine, TimesAreReadAsPeopleWriteThem) {
  const std::string clip = "lavfi:testsrc=size=64x64:rate=1:duration=100";
  const auto first = [&](const std::string& start) {
    const Outcome outcome =
        expect_run(0, {"-q", "detect", clip, "--device", "none", "--duration", "1s", "--start", start});
    return parse_lines(outcome.out).front().at("time").get<double>();
  };
  EXPECT_EQ(first("0:10"), 10);
  EXPECT_EQ(first("2s"), 2);
  EXPECT_EQ(first("1m30s"), 90);
  EXPECT_EQ(first("0:01:05.0"), 65);
  EXPECT_EQ(first("3000ms"), 3);
  EXPECT_EQ(first("7"), 7);
}

TEST(CommandLine, TheLastOfSeveralCounts) {
  const std::string clip = moving_clip(120, 200, 1);
  const Words detect{"-q", "detect", clip, "--device", "none", "--no-verify", "--scale-step", "1.3"};
  const auto found = [&](const Words& thresholds) {
    return expect_run(0, detect + thresholds).out.find("score") != std::string::npos;
  };
  EXPECT_TRUE(found({"--threshold", "99", "--threshold", "-4"}));
  EXPECT_FALSE(found({"--threshold", "-4", "--threshold", "99"}));
}

}  // namespace
}  // namespace sightline::test
