// What an error tells people and programs: its fields, and its text in the words of who reads it.

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "pipeline/planning/quality_objective.hpp"

namespace sightline {
namespace {

// A copy is made where an exception is stored, which must not fail where memory is short.
static_assert(std::is_nothrow_copy_constructible_v<Error> && std::is_nothrow_copy_assignable_v<Error>);
static_assert(std::is_nothrow_move_constructible_v<Error>);

Error batch_error() {
  return {ExitCode::usage, "a batch of 8 needs more than --in-flight=4"_message,
          "use " + option("in_flight", 16) + ", or leave --batch out"_message};
}

std::string in_words(const Message& message, Words words) {
  return Error(ExitCode::usage, message).text(words);
}

TEST(Error, SaysProblemAndRemedyInTheWordsOfItsReader) {
  const Error error = batch_error();
  EXPECT_STREQ(error.what(),
               "a batch of 8 needs more than --in-flight 4; use --in-flight 16, or leave --batch out");
  EXPECT_EQ(error.text(Words::command_line), error.what());
  EXPECT_EQ(error.text(Words::configuration),
            "a batch of 8 needs more than in_flight = 4; use in_flight = 16, or leave batch out");
  EXPECT_EQ(error.text(Words::api),
            "a batch of 8 needs more than in_flight=4; use in_flight=16, or leave batch out");
}

TEST(Error, HasFieldsForPrograms) {
  const Error error = batch_error();
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.fields().code, ExitCode::usage);
  EXPECT_EQ(error.fields().parameter, "in_flight");
  EXPECT_EQ(error.fields().object, "");
  EXPECT_EQ(error.fields().problem.text(Words::api), "a batch of 8 needs more than in_flight=4");
  ASSERT_EQ(error.fields().remedy.pieces().size(), 5u);
  const auto* const given = std::get_if<Given>(&error.fields().remedy.pieces()[1]);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->parameter, "in_flight");
  EXPECT_EQ(given->value, "16");
}

TEST(Error, IsAboutNoParameterThatOnlyItsRemedyNames) {
  const Error error(ExitCode::input, "no frame for 30 s", "use a longer --give-up-after"_message);
  EXPECT_EQ(error.fields().parameter, "");
}

TEST(Error, WritesFlagsTextsAndKeysAsTheReaderDoes) {
  const Message flag = "--no-verify and --keep-going=true"_message;
  EXPECT_EQ(in_words(flag, Words::command_line), "--no-verify and --keep-going");
  EXPECT_EQ(in_words(flag, Words::configuration), "verify = false and keep_going = true");
  EXPECT_EQ(in_words(flag, Words::api), "verify=false and keep_going=true");
  const Message text = "--device=none, --schedule=gpu (or --device=0,1, '--model=people')"_message;
  EXPECT_EQ(in_words(text, Words::command_line),
            "--device none, --schedule gpu (or --device 0,1, '--model people')");
  EXPECT_EQ(in_words(text, Words::configuration),
            R"(devices = "none", schedule.name = "gpu" (or devices = "0,1", 'model = "people"'))");
  EXPECT_EQ(in_words(text, Words::api),
            R"(device="none", schedule="gpu" (or device="0,1", 'model="people"'))");
}

TEST(Error, TakesNoNameOfAFileForAParameter) {
  const std::string name = "'{in_flight} --batch=8.mp4'";
  const Error error(ExitCode::input, "cannot open " + name);
  EXPECT_EQ(error.text(Words::configuration), "cannot open " + name);
  EXPECT_EQ(error.fields().parameter, "");
}

TEST(Error, HasNoRemedyWhereItIsEmpty) {
  EXPECT_STREQ(Error(ExitCode::failed, "broken", "").what(), "broken");
  EXPECT_TRUE(Error(ExitCode::failed, "broken", "").fields().remedy.empty());
}

TEST(Error, CopiesShareTheFieldsAndOutliveTheFirst) {
  std::exception_ptr stored;
  const Error::Fields* fields = nullptr;
  try {
    const Error error = batch_error();
    fields = &error.fields();
    throw Error(error);
  } catch (...) {
    stored = std::current_exception();
  }
  try {
    std::rethrow_exception(stored);
  } catch (const Error& error) {
    EXPECT_EQ(&error.fields(), fields);
    EXPECT_EQ(error.fields().remedy.text(Words::command_line), "use --in-flight 16, or leave --batch out");
  }
  Error moved_from = batch_error();
  const Error moved = std::move(moved_from);
  EXPECT_EQ(moved_from.code(), moved.code());
}

TEST(Error, NamesItsPlaceOnceAndKeepsTheRest) {
  const Error error = batch_error().at("people.toml:7");
  EXPECT_EQ(error.fields().object, "people.toml:7");
  EXPECT_EQ(error.fields().parameter, "in_flight");
  EXPECT_EQ(
      error.text(Words::configuration).find("people.toml:7: a batch of 8 needs more than in_flight = 4; "),
      0u);
  const Error about = batch_error().about("GPU 0");
  EXPECT_EQ(about.fields().object, "GPU 0");
  EXPECT_STREQ(about.what(), batch_error().what());
}

TEST(Error, KeepsTheParametersOfOneThatItContains) {
  const Error error(ExitCode::failed, "the plan is not usable: " + batch_error().message());
  EXPECT_EQ(error.fields().parameter, "in_flight");
  EXPECT_EQ(error.text(Words::api), "the plan is not usable: " + batch_error().text(Words::api));
}

TEST(Error, OfTheLibraryNamesNoOptionElsewhereThanOnTheCommandLine) {
  pipeline::QualityRequest request;
  request.hold = 25;
  request.battery = true;
  try {
    pipeline::objective_of(request);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fields().parameter, "hold");
    EXPECT_EQ(error.text(Words::api), "hold, budget and battery exclude each other; use one of them");
  }
}

}  // namespace
}  // namespace sightline
