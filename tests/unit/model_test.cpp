#include "detectors/filterbank/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "support/model_file.hpp"

namespace sightline::filterbank {
namespace {

using ::testing::HasSubstr;

class ModelFile : public test::ModelFileTest {
 protected:
  ModelFile() { save_model(random_model(), file); }

  static Model random_model(ClassifierKind kind = ClassifierKind::linear, int templates = 1) {
    return test::random_model(9, 1, kind, templates);
  }
};

TEST_F(ModelFile, RoundTrip) {
  Model model = random_model();
  model.epsilon = 17;
  model.bias = -123456789012;
  model.scale = 1.0 / 3;
  model.threshold = -0.1;
  model.object = {12.3, 16, 7.1, 9.25};
  model.label = "K\xC3\xB6nig \"quoted\"";
  model.provenance = "{\"a\": [1, 2]}\n";
  save_model(model, file);
  const Model loaded = load_model(file);
  EXPECT_EQ(loaded.label, model.label);
  EXPECT_EQ(loaded.window.pixels(), model.window.pixels());
  EXPECT_EQ(loaded.object, model.object);
  EXPECT_EQ(loaded.epsilon, 17);
  EXPECT_EQ(loaded.classifier, ClassifierKind::linear);
  EXPECT_EQ(loaded.weights, model.weights);
  EXPECT_EQ(loaded.bias, model.bias);
  EXPECT_EQ(loaded.scale, model.scale);
  EXPECT_EQ(loaded.threshold, model.threshold);
  EXPECT_EQ(loaded.provenance, model.provenance);
  EXPECT_THAT(loaded.dictionary.filters(), ::testing::ElementsAreArray(model.dictionary.filters()));
  EXPECT_THAT(loaded.dictionary.reference(), ::testing::ElementsAreArray(model.dictionary.reference()));
  save_model(loaded, changed);
  EXPECT_EQ(test::bytes_of(changed), test::bytes_of(file));
}

TEST_F(ModelFile, RoundTripOfTemplates) {
  const Model model = random_model(ClassifierKind::distance, 3);
  save_model(model, file);
  const Model loaded = load_model(file);
  EXPECT_EQ(loaded.classifier, ClassifierKind::distance);
  EXPECT_EQ(loaded.templates(), 3);
  EXPECT_EQ(loaded.weights, model.weights);
  save_model(loaded, changed);
  EXPECT_EQ(test::bytes_of(changed), test::bytes_of(file));
}

TEST_F(ModelFile, RoundTripOfDescriptors) {
  for (const int patch : {3, 5}) {
    for (const Contrast contrast : {Contrast::insensitive, Contrast::sensitive, Contrast::signed_value}) {
      if (patch == 5 && contrast == Contrast::signed_value) continue;
      for (const Normalisation normalisation :
           {Normalisation::l1_sqrt, Normalisation::l1, Normalisation::l2}) {
        const Descriptor descriptor{patch, contrast, normalisation};
        SCOPED_TRACE(describe(descriptor));
        const Model model = test::random_model(9, 1, descriptor);
        ASSERT_EQ(model.weights.size(), 6U * 4 * (contrast == Contrast::sensitive ? 18 : 9));
        save_model(model, file);
        const Model loaded = load_model(file);
        EXPECT_EQ(loaded.descriptor, descriptor);
        EXPECT_EQ(loaded.weights, model.weights);
        EXPECT_EQ(loaded.dictionary.patch(), patch);
        EXPECT_THAT(loaded.dictionary.large(), ::testing::ElementsAreArray(model.dictionary.large()));
        EXPECT_THAT(loaded.dictionary.reference(), ::testing::ElementsAreArray(model.dictionary.reference()));
        save_model(loaded, changed);
        EXPECT_EQ(test::bytes_of(changed), test::bytes_of(file));
        Model evaluated = loaded;
        evaluated.evaluation = WindowEvaluation{0.1, 0.2, "made up"};
        store_evaluation(evaluated, file);
        EXPECT_EQ(load_model(file).evaluation->data, "made up");
      }
    }
  }
}

TEST_F(ModelFile, RoundTripOfPatterns) {
  for (const bool sensitive : {false, true}) {
    Descriptor descriptor;
    if (sensitive) descriptor.contrast = Contrast::sensitive;
    descriptor.patterns = true;
    SCOPED_TRACE(describe(descriptor));
    const Model model = test::random_model(9, 1, descriptor);
    ASSERT_EQ(model.weights.size(), 6U * (4 * (sensitive ? 18 : 9) + 59));
    save_model(model, file);
    EXPECT_EQ(Safetensors::load(file).metadata.at("patterns"), "uniform");
    const Model loaded = load_model(file);
    EXPECT_EQ(loaded.descriptor, descriptor);
    EXPECT_EQ(loaded.weights, model.weights);
    EXPECT_EQ(loaded.templates(), 1);
    save_model(loaded, changed);
    EXPECT_EQ(test::bytes_of(changed), test::bytes_of(file));
    // One template more, and in two sizes.
    std::vector<Model> sizes{model, model};
    for (Model& size : sizes) {
      size.classifier = ClassifierKind::distance;
      size.dictionary = model.dictionary.first(&size == sizes.data() ? 4 : 9);
      size.weights.assign(2 * size.weights_per_template(), 7);
      size.weights.back() = 90;
    }
    save_models(sizes, file);
    for (const Model& size : sizes) {
      const Model other = load_model(file, size.dictionary.size());
      EXPECT_EQ(other.descriptor, descriptor);
      EXPECT_EQ(other.templates(), 2);
      EXPECT_EQ(other.weights, size.weights);
    }
  }
  save_model(random_model(), file);
  EXPECT_EQ(Safetensors::load(file).metadata.count("patterns"), 0U);
}

TEST_F(ModelFile, PatternsGoWithTheExactDescriptorOnly) {
  EXPECT_EQ(complaint_about("patterns", "none"), "");
  for (const char* text : {"Uniform", "rotated", "yes", ""})
    EXPECT_THAT(complaint_about("patterns", text), HasSubstr("'patterns'")) << text;
  // Right in itself, but not what the weights are for.
  EXPECT_THAT(complaint_about("patterns", "uniform"), HasSubstr("'weights'"));
  Descriptor descriptor;
  descriptor.patterns = true;
  save_model(test::random_model(9, 1, descriptor), file);
  EXPECT_EQ(complaint_about("patterns", "uniform"), "");
  EXPECT_THAT(complaint_about("patterns", "none"), HasSubstr("'weights'"));
  for (const char* text : {"l1", "l2"}) {
    EXPECT_THAT(complaint_about("normalisation", text), HasSubstr("'patterns'"));
  }
  EXPECT_THAT(complaint_about("patch", "5x5"), HasSubstr("'patterns'"));
}

TEST_F(ModelFile, SignedResponses) {
  const Descriptor descriptor{3, Contrast::signed_value, {}};
  save_model(test::random_model(9, 1, descriptor), file);
  EXPECT_EQ(Safetensors::load(file).metadata.at("contrast"), "signed");
  EXPECT_EQ(load_model(file).descriptor, descriptor);
  EXPECT_EQ(load_model(file).bins(), 9);
  EXPECT_THAT(complaint_about("patch", "5x5"), HasSubstr("'contrast'"));
  EXPECT_THAT(complaint_about("patterns", "uniform"), HasSubstr("'patterns'"));
  // The bin of a response has eight bits, and a filter one bin.
  save_model(test::random_model(256, 1, descriptor), file);
  EXPECT_EQ(load_model(file).bins(), 256);
}

// The bin of a response has eight bits.
TEST_F(ModelFile, ContrastSensitiveDictionariesOfAtMost128Filters) {
  Descriptor descriptor;
  descriptor.contrast = Contrast::sensitive;
  for (const bool patterns : {false, true}) {
    descriptor.patterns = patterns;
    save_model(test::random_model(128, 1, descriptor), file);
    EXPECT_EQ(load_model(file).bins(), 256);
    save_model(test::random_model(129, 1, descriptor), file);
    test::expect_error(ExitCode::model, "129 filters", [&] { load_model(file); });
  }
}

TEST_F(ModelFile, OnlyWhatDiffersFromTheStandardDescriptorIsWritten) {
  const auto keys = [&](const Descriptor& descriptor) {
    save_model(test::random_model(9, 1, descriptor), changed);
    const auto metadata = Safetensors::load(changed).metadata;
    return std::pair{metadata.count("patch"), metadata.count("contrast")};
  };
  EXPECT_EQ(keys({}), (std::pair<std::size_t, std::size_t>{0, 0}));
  EXPECT_EQ(keys({5, Contrast::insensitive, {}}), (std::pair<std::size_t, std::size_t>{1, 0}));
  EXPECT_EQ(keys({3, Contrast::sensitive, {}}), (std::pair<std::size_t, std::size_t>{0, 1}));
}

TEST_F(ModelFile, SizesOfLargeFilters) {
  std::vector<Model> sizes;
  const Dictionary dictionary = test::random_model(9, 1, {5, Contrast::sensitive, {}}).dictionary;
  for (const int size : {4, 9}) {
    sizes.push_back(test::random_model(size, 1, {5, Contrast::sensitive, {}}));
    sizes.back().dictionary = dictionary.first(size);
  }
  save_models(sizes, file);
  for (const Model& size : sizes) {
    const Model loaded = load_model(file, size.dictionary.size());
    EXPECT_EQ(loaded.weights, size.weights);
    EXPECT_THAT(loaded.dictionary.large(), ::testing::ElementsAreArray(size.dictionary.large()));
  }
  sizes[0].dictionary = test::random_model(4, 5, {5, Contrast::sensitive, {}}).dictionary;
  EXPECT_THROW(save_models(sizes, file), std::invalid_argument);
}

TEST_F(ModelFile, LargeFiltersAreFinite) {
  save_model(test::random_model(9, 1, {5, Contrast::insensitive, {}}), file);
  EXPECT_THAT(complaint([](Safetensors& container) {
                const auto old = container.array<float>("dictionary.reference", {9, 5, 5});
                std::vector<float> values(old.begin(), old.end());
                values[30] = std::numeric_limits<float>::quiet_NaN();
                container.set<float>("dictionary.reference", {9, 5, 5}, values);
              }),
              HasSubstr("'dictionary.reference'"));
  EXPECT_THAT(complaint([](Safetensors& container) {
                container.set<float>("dictionary.reference", {0, 5, 5}, {});
              }),
              HasSubstr("0 filters"));
}

TEST_F(ModelFile, EveryKeyIsNeeded) {
  const Safetensors whole = Safetensors::load(file);
  EXPECT_EQ(whole.metadata.size(), 13U);
  for (const auto& [key, value] : whole.metadata) {
    const std::string name = key;
    EXPECT_THAT(complaint([&](Safetensors& container) { container.metadata.erase(name); }),
                HasSubstr("'" + name + "'"));
  }
}

TEST_F(ModelFile, EveryArrayIsNeeded) {
  for (const std::string missing : {"dictionary", "dictionary.reference", "weights"})
    EXPECT_THAT(complaint_without(missing), HasSubstr("'" + missing + "'"));
}

TEST_F(ModelFile, HeaderTexts) {
  const std::pair<const char*, std::vector<std::string>> wrong[] = {
      {"kind", {"sightline.cascade"}},
      {"version", {"4"}},
      {"cell", {"6"}},
      {"normalisation", {"max", "L1", "l1 ", ""}},
      {"patch", {"5", "4x4", "7x7", ""}},
      {"contrast", {"yes", "Sensitive", ""}},
      {"classifier", {"forest"}},
      {"label", {"", std::string(65, 'x')}},
      {"scale", {"nan", "inf", "-inf", "1e999", "", " 1", "1 ", "0x10", "1,2", "1,", "0", "-1", "1e31"}},
      {"threshold", {"nan", "x", "1e10"}},
      {"bias", {"nan", "1e13", "--1", "0.5"}},
      {"epsilon", {"nan", "-1", "1048577", "2.5"}},
      {"window",
       {"24", "24x32x8", "24x32x", "x24x32", "24,32", "20x32", "24x30", "8x32", "24x8", "520x32", "0x0",
        "-24x32", "24.5x32", "1e300x32", "nanx32"}},
      // It lies inside the window.
      {"object",
       {"-1,0,10,10", "0,-1,10,10", "0,0,25,32", "0,0,24,33", "20,0,5,10", "0,0,0,10", "0,0,10,0", "0,0,10",
        "0,0,10,10,10", "0,0,10,10,", "0,0,nan,10", "a,b,c,d"}},
  };
  for (const auto& [key, texts] : wrong) {
    for (const std::string& text : texts)
      EXPECT_THAT(complaint_about(key, text), HasSubstr("'" + std::string(key) + "'")) << text;
  }
  const std::pair<const char*, std::string> right[] = {
      {"normalisation", "l1"},        {"patch", "3x3"},       {"contrast", "insensitive"},
      {"contrast", "signed"},         {"epsilon", "1048576"}, {"object", "0,0,24,32"},
      {"label", std::string(64, 'x')}};
  for (const auto& [key, text] : right) EXPECT_EQ(complaint_about(key, text), "");
  // Right in themselves, but not what the arrays are for.
  EXPECT_THAT(complaint_about("patch", "5x5"), HasSubstr("'dictionary.reference'"));
  EXPECT_THAT(complaint_about("contrast", "sensitive"), HasSubstr("'weights'"));
  EXPECT_THAT(complaint_about("window", "32x32"), HasSubstr("'weights'"));
}

TEST_F(ModelFile, Dictionary) {
  const auto with_filter = [&](std::vector<std::int8_t> first) {
    return complaint([&](Safetensors& container) {
      const auto old = container.array<std::int8_t>("dictionary", {9, 3, 3});
      std::vector<std::int8_t> values(old.begin(), old.end());
      std::copy(first.begin(), first.end(), values.begin());
      container.set<std::int8_t>("dictionary", {9, 3, 3}, values);
    });
  };
  EXPECT_EQ(with_filter({1, -1, 0, 0, 0, 0, 0, 0, 0}), "");
  EXPECT_THAT(with_filter({1, 0, 0, 0, 0, 0, 0, 0, 0}), HasSubstr("dictionary filter 0"));
  EXPECT_THAT(with_filter({127, 127, 4, -127, -127, -4, 0, 0, 0}), HasSubstr("dictionary filter 0"));

  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(complaint([&](Safetensors& container) {
                  const auto old = container.array<float>("dictionary.reference", {9, 3, 3});
                  std::vector<float> values(old.begin(), old.end());
                  values[40] = bad;
                  container.set<float>("dictionary.reference", {9, 3, 3}, values);
                }),
                HasSubstr("'dictionary.reference'"));
  }
  EXPECT_THAT(complaint([](Safetensors& container) {
                container.set<float>("dictionary.reference", {1, 3, 3}, std::vector<float>(9));
              }),
              HasSubstr("'dictionary.reference'"));
  EXPECT_THAT(complaint([](Safetensors& container) {
                container.set<std::int8_t>("dictionary", {0, 3, 3}, {});
                container.set<float>("dictionary.reference", {0, 3, 3}, {});
              }),
              HasSubstr("0 filters"));
  EXPECT_THAT(complaint([](Safetensors& container) {
                container.set<std::int8_t>("dictionary", {257, 3, 3}, std::vector<std::int8_t>(257 * 9));
                container.set<float>("dictionary.reference", {257, 3, 3}, std::vector<float>(257 * 9));
              }),
              HasSubstr("257 filters"));
}

TEST_F(ModelFile, Weights) {
  const TensorShape shape{1, 3, 2, 4, 9};
  const auto with_weight = [&](int value, const std::string& classifier) {
    return complaint([&](Safetensors& container) {
      std::vector<std::int8_t> values(3 * 2 * 4 * 9, 1);
      values[100] = static_cast<std::int8_t>(value);
      container.set<std::int8_t>("weights", shape, values);
      container.metadata["classifier"] = classifier;
    });
  };
  for (const int value : {-90, 90}) EXPECT_EQ(with_weight(value, "linear"), "");
  for (const int value : {-128, -91, 91, 127}) {
    EXPECT_THAT(with_weight(value, "linear"), HasSubstr("'weights'"));
  }
  EXPECT_EQ(with_weight(90, "distance"), "");
  EXPECT_THAT(with_weight(-1, "distance"), HasSubstr("'weights'"));

  const auto with_templates = [&](std::int64_t count, const std::string& classifier) {
    return complaint([&](Safetensors& container) {
      container.set<std::int8_t>("weights", {count, 3, 2, 4, 9},
                                 std::vector<std::int8_t>(count * 3 * 2 * 4 * 9, 1));
      container.metadata["classifier"] = classifier;
    });
  };
  EXPECT_THAT(with_templates(0, "linear"), HasSubstr("0 templates"));
  EXPECT_THAT(with_templates(2, "linear"), HasSubstr("2 templates"));
  EXPECT_EQ(with_templates(1024, "distance"), "");
  EXPECT_THAT(with_templates(1025, "distance"), HasSubstr("1025 templates"));
  EXPECT_THAT(complaint([](Safetensors& container) {
                container.set<std::int8_t>("weights", {}, std::vector<std::int8_t>(1));
              }),
              HasSubstr("'weights'"));
}

TEST_F(ModelFile, SumsThatWouldNotFitInto32BitsAreRefused) {
  // The largest window with 256 filters, all weights at the limit: 3,969 blocks of about 255 * 90 * 32.
  Model model = test::random_model(256, 1, ClassifierKind::linear, 1, {64, 64});
  std::fill(model.weights.begin(), model.weights.end(), std::int8_t{90});
  save_model(model, file);
  test::expect_error(ExitCode::model, "'weights'", [&] { load_model(file); });
  model.classifier = ClassifierKind::distance;
  save_model(model, file);
  test::expect_error(ExitCode::model, "'weights'", [&] { load_model(file); });
}

TEST_F(ModelFile, TruncatedAnywhere) {
  expect_cuts_refused();
}

TEST_F(ModelFile, MissingFile) {
  test::expect_error(ExitCode::model, "none.safetensors", [&] { load_model(folder / "none.safetensors"); });
}

class SizesFile : public ModelFile {
 protected:
  SizesFile() { save_models(models, file); }

  std::vector<Model> models = test::random_sizes({3, 5, 9}, 1);
};

void expect_equal(const Model& a, const Model& b) {
  EXPECT_THAT(a.dictionary.filters(), ::testing::ElementsAreArray(b.dictionary.filters()));
  EXPECT_THAT(a.dictionary.reference(), ::testing::ElementsAreArray(b.dictionary.reference()));
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.bias, b.bias);
  EXPECT_EQ(a.scale, b.scale);
  EXPECT_EQ(a.threshold, b.threshold);
  EXPECT_EQ(a.provenance, b.provenance);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.window.pixels(), b.window.pixels());
  EXPECT_EQ(a.object, b.object);
  EXPECT_EQ(a.epsilon, b.epsilon);
  EXPECT_EQ(a.classifier, b.classifier);
  EXPECT_EQ(a.evaluation.has_value(), b.evaluation.has_value());
}

TEST_F(SizesFile, RoundTrip) {
  for (const ClassifierKind kind : {ClassifierKind::linear, ClassifierKind::distance}) {
    models = test::random_sizes({3, 5, 9}, 1, kind, kind == ClassifierKind::linear ? 1 : 3);
    models[1].evaluation = {0.25, 1.0 / 3, "made-up \"pictures\""};
    save_models(models, file);
    const std::vector<Model> loaded = load_models(file);
    ASSERT_EQ(loaded.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) expect_equal(loaded[i], models[i]);
    EXPECT_EQ(loaded[1].evaluation->miss_rate_at_1e4, 0.25);
    EXPECT_EQ(loaded[1].evaluation->miss_rate_at_1e5, 1.0 / 3);
    EXPECT_EQ(loaded[1].evaluation->data, "made-up \"pictures\"");
    save_models(loaded, changed);
    EXPECT_EQ(test::bytes_of(changed), test::bytes_of(file));
  }
}

TEST_F(SizesFile, OneSizeIsChosen) {
  expect_equal(load_model(file), models[2]);
  expect_equal(load_model(file, 9), models[2]);
  expect_equal(load_model(file, 5), models[1]);
  expect_equal(load_model(file, 3), models[0]);
  for (const int other : {-1, 0, 4, 10, 100}) {
    test::expect_error(ExitCode::usage, std::to_string(other), [&] { load_model(file, other); });
  }
}

TEST_F(SizesFile, AFileOfOneSizeHasNoOther) {
  save_model(models[2], file);
  EXPECT_FALSE(Safetensors::load(file).metadata.contains("sizes"));
  expect_equal(load_model(file), models[2]);
  expect_equal(load_model(file, 9), models[2]);
  EXPECT_EQ(load_models(file).size(), 1U);
  test::expect_error(ExitCode::usage, "filters: 9", [&] { load_model(file, 5); });
}

// Programs that know one size only read the largest.
TEST_F(SizesFile, TheLargestSizeIsWrittenAsIfAlone) {
  save_model(models[2], changed);
  const Safetensors alone = Safetensors::load(changed);
  const Safetensors all = Safetensors::load(file);
  for (const auto& [key, value] : alone.metadata) EXPECT_EQ(all.metadata.at(key), value) << key;
  for (const auto& [name, tensor] : alone.tensors()) {
    EXPECT_EQ(all.at(name).shape, tensor.shape) << name;
    EXPECT_EQ(all.at(name).bytes, tensor.bytes) << name;
  }
}

TEST_F(SizesFile, SizesMustAscendToTheWholeDictionary) {
  for (const char* text : {"", "9,", ",9", "3,5", "5,3,9", "3,5,5,9", "0,9", "-3,9", "3.5,9", "nan,9",
                           "3;5;9", "3,5,9,10", "3,5,1e300", "three,9", "3, 5, 9"}) {
    EXPECT_THAT(complaint_about("sizes", text), HasSubstr("'sizes'")) << text;
  }
  EXPECT_EQ(complaint_about("sizes", "5,9"), "");
  EXPECT_THAT(complaint_about("sizes", "3,4,5,9"), HasSubstr("'bias.4'"));
}

// Also where another size is asked for.
TEST_F(SizesFile, EverySizeIsValidated) {
  for (const std::string key : {"bias.5", "scale.5", "threshold.3", "provenance.3"}) {
    EXPECT_THAT(complaint([&](Safetensors& container) { container.metadata.erase(key); }),
                HasSubstr("'" + key + "'"));
  }
  EXPECT_THAT(complaint_about("scale.5", "0"), HasSubstr("'scale.5'"));
  EXPECT_THAT(complaint_about("bias.5", "0.5"), HasSubstr("'bias.5'"));
  EXPECT_THAT(complaint_about("threshold.3", "nan"), HasSubstr("'threshold.3'"));
  const auto with_weights = [&](const TensorShape& shape, std::int8_t value) {
    std::size_t count = 1;
    for (const std::int64_t length : shape) count *= static_cast<std::size_t>(length);
    return complaint([&](Safetensors& container) {
      container.set<std::int8_t>("weights.5", shape, std::vector<std::int8_t>(count, value));
    });
  };
  EXPECT_EQ(with_weights({1, 3, 2, 4, 5}, 90), "");
  EXPECT_THAT(with_weights({1, 3, 2, 4, 5}, 91), HasSubstr("'weights.5'"));
  EXPECT_THAT(with_weights({1, 3, 2, 4, 9}, 1), HasSubstr("'weights.5'"));
  EXPECT_THAT(with_weights({2, 3, 2, 4, 5}, 1), HasSubstr("'weights.5'"));
  EXPECT_THAT(with_weights({0, 3, 2, 4, 5}, 1), HasSubstr("'weights.5'"));
  EXPECT_THAT(complaint_without("weights.3"), HasSubstr("'weights.3'"));
}

TEST_F(SizesFile, DictionariesThatAreNotNestedAreNotSaved) {
  EXPECT_THROW(save_models(std::vector{models[1], models[0]}, changed), std::invalid_argument);
  EXPECT_THROW(save_models(std::vector{models[0], models[0]}, changed), std::invalid_argument);
  EXPECT_THROW(save_models(std::vector{test::random_model(3, 77), models[2]}, changed),
               std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(changed));
}

TEST_F(SizesFile, EvaluationIsStoredForItsSize) {
  const Safetensors before = Safetensors::load(file);
  for (const int size : {5, 9}) {
    Model model = load_model(file, size);
    EXPECT_FALSE(model.evaluation);
    model.evaluation = {0.01 * size, 0.02 * size, "data of " + std::to_string(size)};
    store_evaluation(model, file);
  }
  EXPECT_FALSE(load_model(file, 3).evaluation);
  for (const int size : {5, 9}) {
    const auto evaluation = load_model(file, size).evaluation;
    ASSERT_TRUE(evaluation);
    EXPECT_EQ(evaluation->miss_rate_at_1e4, 0.01 * size);
    EXPECT_EQ(evaluation->miss_rate_at_1e5, 0.02 * size);
    EXPECT_EQ(evaluation->data, "data of " + std::to_string(size));
  }
  // Nothing else has changed.
  Safetensors after = Safetensors::load(file);
  EXPECT_EQ(after.metadata.erase("evaluation"), 1U);
  EXPECT_EQ(after.metadata.erase("evaluation.5"), 1U);
  EXPECT_EQ(after.serialize(), before.serialize());
}

TEST_F(SizesFile, EvaluationOfAnotherModelIsNotStored) {
  Model model = load_model(file, 5);
  model.evaluation = {0.1, 0.2, "data"};
  models[1].weights[7] ^= 1;
  save_models(models, file);
  const std::string bytes = test::bytes_of(file);
  test::expect_error(ExitCode::failed, [&] { store_evaluation(model, file); });
  EXPECT_EQ(test::bytes_of(file), bytes);
}

TEST_F(SizesFile, EvaluationsAreValidated) {
  const std::string right = R"({"miss_rate_at_1e-4":0,"miss_rate_at_1e-5":1,"data":""})";
  EXPECT_EQ(complaint_about("evaluation", right), "");
  for (const std::string key : {"evaluation", "evaluation.5"}) {
    for (const char* text : {"", "0.5", "[1]", "{}", R"({"miss_rate_at_1e-4":0,"miss_rate_at_1e-5":0})",
                             R"({"miss_rate_at_1e-4":0,"miss_rate_at_1e-5":1.01,"data":""})",
                             R"({"miss_rate_at_1e-4":-0.1,"miss_rate_at_1e-5":0,"data":""})",
                             R"({"miss_rate_at_1e-4":"0","miss_rate_at_1e-5":0,"data":""})",
                             R"({"miss_rate_at_1e-4":null,"miss_rate_at_1e-5":0,"data":""})",
                             R"({"miss_rate_at_1e-4":0,"miss_rate_at_1e-5":0,"data":7})"}) {
      EXPECT_THAT(complaint_about(key, text), HasSubstr("'" + key + "'")) << text;
    }
  }
}

TEST_F(SizesFile, TruncatedAnywhere) {
  const std::string whole = test::bytes_of(file);
  for (std::size_t size = 0; size < whole.size(); size += size < 2500 ? 37 : 211) {
    std::ofstream(changed, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(size));
    EXPECT_THAT(test::error_of(ExitCode::model, [&] { load_model(changed); }), HasSubstr(changed.string()))
        << size;
  }
}

}  // namespace
}  // namespace sightline::filterbank
