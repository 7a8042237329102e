#include "model/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline {
namespace {

using test::expect_error;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Ne;
using Bytes = std::vector<std::byte>;
namespace fs = std::filesystem;

/// A file with this header and so many bytes of data.
Bytes file_of(const std::string& header, std::size_t data) {
  Bytes file(8 + header.size() + data);
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}

/// The complaint about a file, which must be an Error(model); "" where there is none.
std::string complaint(const Bytes& file) {
  const std::string error = test::error_of(ExitCode::model, [&] { Safetensors::parse(file, "m"); });
  EXPECT_TRUE(error.empty() || error.starts_with("'m': ")) << error;
  return error;
}

Safetensors example_file() {
  Safetensors model;
  model.metadata = {{"kind", "filterbank"}, {"name", "ä \"quoted\""}};
  model.set<std::int8_t>("words", {2, 3}, std::vector<std::int8_t>{1, -2, 3, -4, 5, -128});
  model.set<double>("bias", {}, std::vector{-0.5});
  model.set<float>("weights", {3}, std::vector{1.0F, 2.5F, -3.0F});
  model.set<std::int32_t>("none", {0, 7}, {});
  return model;
}

TEST(Safetensors, RoundTrip) {
  const auto bytes = example_file().serialize();
  const auto model = Safetensors::parse(bytes, "m");
  EXPECT_EQ(model.metadata, example_file().metadata);
  EXPECT_THAT(model.array<std::int8_t>("words", {2, 3}), ElementsAre(1, -2, 3, -4, 5, -128));
  EXPECT_THAT(model.array<std::int8_t>("words", {Safetensors::kAny, 3}), ::testing::SizeIs(6));
  EXPECT_THAT(model.array<double>("bias", {}), ElementsAre(-0.5));
  EXPECT_THAT(model.array<float>("weights", {3}), ElementsAre(1.0F, 2.5F, -3.0F));
  EXPECT_TRUE(model.array<std::int32_t>("none", {0, 7}).empty());
  EXPECT_EQ(model.tensors().size(), 4U);
  EXPECT_EQ(model.serialize(), bytes);
}

TEST(Safetensors, EveryNumberType) {
  Safetensors model;
  model.set<std::uint8_t>("u8", {1}, std::vector<std::uint8_t>{255});
  model.set<std::int16_t>("i16", {1}, std::vector<std::int16_t>{-32768});
  model.set<std::int64_t>("i64", {1}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  const auto again = Safetensors::parse(model.serialize(), "m");
  EXPECT_EQ(again.array<std::uint8_t>("u8", {1})[0], 255);
  EXPECT_EQ(again.array<std::int16_t>("i16", {1})[0], -32768);
  EXPECT_EQ(again.array<std::int64_t>("i64", {1})[0], std::numeric_limits<std::int64_t>::min());
}

TEST(Safetensors, BytesAreExactAndAligned) {
  Safetensors model;
  model.metadata["k"] = "v";
  model.set<std::int8_t>("a", {1}, std::vector<std::int8_t>{7});
  model.set<float>("b", {1}, std::vector{1.0F});
  const auto bytes = model.serialize();
  // b lies before a, so that its number is aligned.
  const std::string header =
      R"({"__metadata__":{"k":"v"},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("a":{"dtype":"I8","shape":[1],"data_offsets":[4,5]}})";
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(length, (header.size() + 7) / 8 * 8);
  const std::string text(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  EXPECT_EQ(text, header + std::string(length - header.size(), ' '));
  EXPECT_EQ(bytes.size(), 8 + length + 5);
  EXPECT_EQ(bytes.back(), std::byte{7});
}

TEST(Safetensors, AnyCutIsAnError) {
  const auto whole = example_file().serialize();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(complaint({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "") << size;
  }
  auto longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_NE(complaint(longer), "");
}

TEST(Safetensors, AnyChangedByteIsAnErrorOrAnotherModelButNoCrash) {
  const auto whole = example_file().serialize();
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {1, 0x20, 0x80, 0xff}) {
      auto changed = whole;
      changed[i] ^= static_cast<std::byte>(change);
      refused += complaint(changed).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Safetensors, HeaderLengthsBeyondTheFile) {
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{100'000'001}, std::uint64_t{1} << 63,
                                     std::numeric_limits<std::uint64_t>::max()}) {
    auto file = file_of("{}", 0);
    std::memcpy(file.data(), &length, 8);
    EXPECT_THAT(complaint(file), HasSubstr(std::to_string(length)));
  }
  EXPECT_EQ(complaint(file_of("{}", 0)), "");
}

TEST(Safetensors, HeadersThatAreNotOfTheForm) {
  const auto of = [](const std::string& header) { return complaint(file_of(header, 4)); };
  const std::string good = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_EQ(of("{" + good + "}"), "");
  EXPECT_EQ(of("{" + good + "}   "), "");
  std::string many = "1";
  for (int i = 0; i < 32; ++i) many += ",1";
  const std::pair<std::string, std::string> wrong[] = {
      {"", ""},
      {" {}", ""},
      {"[1]", ""},
      {"{" + good + "}" + std::string(4, '\0'), ""},
      {"{" + good, ""},
      {"{" + good + "}{}", ""},
      {"{\"\xff\":1}", ""},
      {"{" + good + "," + good + "}", "'a'"},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", "'a'"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", "data_offsets"},
      {R"({"a":{"more":1}})", "'more'"},
      {R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", "'BF16'"},
      {R"({"a":{"dtype":4}})", "header: "},
      {R"({"a":{"shape":[-1]}})", "header: "},
      {R"({"a":{"shape":[1.0]}})", "'1.0'"},
      {R"({"a":{"shape":[18446744073709551615]}})", "'a'"},
      {R"({"a":{"shape":[99999999999999999999999]}})", "header: "},
      {R"({"a":{"shape":[1e9999]}})", ""},
      {R"({"a":{"shape":[[1]]}})", "header: "},
      {R"({"a":{"shape":null}})", "header: "},
      {R"({"a":{"data_offsets":[0]}})", "data_offsets"},
      {R"({"a":{"data_offsets":[0,4,4]}})", "header: "},
      {R"({"a":true})", "header: "},
      {R"({"a":[]})", "header: "},
      {R"({"__metadata__":{"a":1}})", ""},
      {R"({"__metadata__":{"a":"1","a":"2"}})", "'a'"},
      {R"({"__metadata__":{},"__metadata__":{}})", ""},
      {R"({"a":{"shape":[)" + many + "]}}", "'a'"},
  };
  for (const auto& [header, fact] : wrong) EXPECT_THAT(of(header), AllOf(Ne(""), HasSubstr(fact))) << header;
}

TEST(Safetensors, ArraysMustCoverTheDataExactly) {
  const auto of = [](const std::string& a, const std::string& b, std::size_t data) {
    return complaint(
        file_of("{\"a\":{\"dtype\":\"U8\"," + a + "},\"b\":{\"dtype\":\"F32\"," + b + "}}", data));
  };
  const std::string a = R"("shape":[2,2],"data_offsets":[0,4])";
  EXPECT_EQ(of(a, R"("shape":[1],"data_offsets":[4,8])", 8), "");
  EXPECT_EQ(of(R"("shape":[2,0],"data_offsets":[4,4])", R"("shape":[1],"data_offsets":[0,4])", 4), "");
  EXPECT_NE(of(a, R"("shape":[1],"data_offsets":[4,8])", 9), "");
  const std::pair<const char*, std::size_t> wrong[] = {
      {R"("shape":[1],"data_offsets":[2,6])", 6},                      // overlaps
      {R"("shape":[1],"data_offsets":[0,4])", 4},                      // overlaps
      {R"("shape":[1],"data_offsets":[5,9])", 9},                      // leaves a gap
      {R"("shape":[1],"data_offsets":[4,8])", 7},                      // goes past the end
      {R"("shape":[1],"data_offsets":[8,4])", 8},                      // ends before it begins
      {R"("shape":[2],"data_offsets":[4,8])", 8},                      // has another size
      {R"("shape":[4611686018427387905],"data_offsets":[4,8])", 8},    // wraps
      {R"("shape":[4294967296,4294967296],"data_offsets":[4,4])", 4},  // wraps
  };
  for (const auto& [b, data] : wrong) EXPECT_THAT(of(a, b, data), HasSubstr("'b'")) << b << " of " << data;
}

TEST(Safetensors, DeeplyNestedHeadersAreRefusedAtOnce) {
  for (const std::string open : {"[", "{\"a\":"}) {
    std::string header = "{\"a\":";
    for (int i = 0; i < 2'000'000; ++i) header += open;
    EXPECT_NE(complaint(file_of(header, 0)), "");
  }
}

TEST(Safetensors, AccessNamesWhatIsWrong) {
  const auto model = Safetensors::parse(example_file().serialize(), "people.safetensors");
  const TensorShape four{Safetensors::kAny, 4}, six{6};
  expect_error(ExitCode::model, "'people.safetensors'", [&] { model.array<float>("nothing", {1}); });
  expect_error(ExitCode::model, "'nothing'", [&] { model.array<float>("nothing", {1}); });
  expect_error(ExitCode::model, "'words'", [&] { model.array<float>("words", {2, 3}); });
  expect_error(ExitCode::model, "'words'", [&] { model.array<std::int8_t>("words", four); });
  expect_error(ExitCode::model, "'words'", [&] { model.array<std::int8_t>("words", six); });
}

TEST(Safetensors, FloatsMustBeFinite) {
  Safetensors model;
  model.set<float>("f", {3}, std::vector{0.0F, 1.0F, std::nanf("")});
  model.set<double>("d", {2}, std::vector{0.0, -std::numeric_limits<double>::infinity()});
  expect_error(ExitCode::model, "'f'", [&] { model.array<float>("f", {3}); });
  expect_error(ExitCode::model, "'d'", [&] { model.array<double>("d", {2}); });
}

TEST(Safetensors, SettingWhatDoesNotFit) {
  Safetensors model;
  EXPECT_THROW(model.set<float>("a", {2}, std::vector{1.0F}), std::invalid_argument);
  EXPECT_THROW(model.set<float>("a", {-1}, {}), std::invalid_argument);
  EXPECT_THROW(model.set<float>("__metadata__", {1}, std::vector{1.0F}), std::invalid_argument);
  model.metadata["a"] = "\xff";
  expect_error(ExitCode::failed, [&] { model.serialize(); });
}

TEST(Safetensors, Files) {
  const test::TempDir folder;
  const fs::path path = folder / "m.safetensors";
  std::ofstream(path) << "old";
  example_file().save(path);
  EXPECT_EQ(Safetensors::load(path).serialize(), example_file().serialize());
  EXPECT_EQ(test::files_in(folder.path()), 1U);  // no temporary file stays
  fs::resize_file(path, fs::file_size(path) - 1);
  for (const std::string& bad : {path.string(), folder / "none", folder.path(), std::string("/dev/zero")})
    expect_error(ExitCode::model, bad, [&] { Safetensors::load(bad); });
  {
    // A hole in the file: no disk space. The header fits the file and yet is longer than the format allows.
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    const std::uint64_t length = 100'000'001;
    file.write(reinterpret_cast<const char*>(&length), 8);
    file.close();
    fs::resize_file(path, 100'000'100);
    expect_error(ExitCode::model, "100000001", [&] { Safetensors::load(path); });
  }
  for (const std::string& bad : {folder / "no/such/folder", folder.path(), std::string("/dev/full")})
    expect_error(ExitCode::failed, bad, [&] { example_file().save(bad); });
}

}  // namespace
}  // namespace sightline
