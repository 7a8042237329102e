#include "detectors/filterbank/training/training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "detectors/filterbank/centre_window.hpp"
#include "detectors/filterbank/detector.hpp"
#include "support/filterbank.hpp"
#include "support/training.hpp"

namespace sightline::filterbank {
namespace {

using test::Pictures;
using ::testing::AllOf;
using ::testing::HasSubstr;
using training::TrainingProgress;
using training::TrainingStopped;

// A bright upright bar in the middle of structure.
Pictures make_positives(int count, Size size) {
  Pictures set;
  for (int i = 0; i < count; ++i) {
    Image<std::uint8_t> picture = test::random_picture(size, 1000U + static_cast<unsigned>(i));
    for (int y = size.height / 2 - 10; y < size.height / 2 + 10; ++y) {
      for (int x = size.width / 2 - 4; x < size.width / 2 + 4; ++x) {
        picture.view().at(x, y) = static_cast<std::uint8_t>(220 + (x + y + i) % 7);
      }
    }
    set.add(std::move(picture));
  }
  return set;
}

Pictures make_negatives(int count) {
  Pictures set;
  for (int i = 0; i < count; ++i)
    set.add(test::random_picture({70 + i, 60 + 2 * i}, 2000U + static_cast<unsigned>(i)));
  set.add(test::random_picture({20, 20}, 1));  // smaller than the window: allowed, and of no use
  return set;
}

bool go_on(const TrainingProgress&) {
  return true;
}

class Training : public ::testing::Test {
 protected:
  Training() {
    spdlog::set_level(spdlog::level::err);
    options.window = {3, 4};
    options.object = {4, 4, 16, 24};
    options.filters = {9};
    options.patches = 3000;
    options.dictionary_rounds = 4;
    options.random_negatives = 5;
    options.hard_negatives = 4;
    options.hard_threshold = -3;  // so that there are some
    options.provenance = "made up";
  }
  ~Training() override { spdlog::set_level(spdlog::level::info); }

  // The bytes of the model's file.
  std::string train_to_bytes(const std::string& state,
                             const std::function<bool(const TrainingProgress&)>& report = go_on) {
    save_models(train(positives, negatives, options, folder / state, report), folder / "model");
    return test::bytes_of(folder / "model");
  }

  // The same, stopped at report `first`, then `more` reports later each time, until it is done.
  struct Pieces {
    std::string bytes;
    int runs = 0;
  };
  Pieces train_in_pieces(const std::string& state, int first, int more) {
    Pieces result;
    for (; result.bytes.empty() && result.runs < 200; ++result.runs) {
      int left = first + more * result.runs;
      try {
        result.bytes = train_to_bytes(state, [&](const TrainingProgress&) { return left-- > 0; });
      } catch (const TrainingStopped&) {
      }
    }
    return result;
  }

  test::TempDir folder;
  Pictures positives = make_positives(30, {29, 37});
  Pictures negatives = make_negatives(12);
  TrainingOptions options;
};

TEST_F(Training, SameSeedSameModel) {
  const std::string first = train_to_bytes("a");
  EXPECT_EQ(train_to_bytes("b"), first);
  EXPECT_EQ(train_to_bytes("a"), first);  // everything found finished
  options.seed = 2;
  EXPECT_NE(train_to_bytes("c"), first);
  EXPECT_NE(train_to_bytes("a"), first);  // another run's state is not used
}

// Pictures with many bands each, so that threads that wait for one picture's bands could take another
// picture.
TEST_F(Training, SameModelOnAnyNumberOfThreads) {
  for (int i = 0; i < 24; ++i)
    negatives.add(test::random_picture({150, 400}, 3000U + static_cast<unsigned>(i)));
  options.filters = {5, 9};
  for (const ClassifierKind kind : {ClassifierKind::linear, ClassifierKind::distance}) {
    options.classifier = kind;
    options.templates = 4;
    std::vector<std::string> models;
    for (const int threads : {1, 8}) {
      const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
      oneapi::tbb::task_arena arena(threads);
      arena.execute([&] { models.push_back(train_to_bytes("t" + std::to_string(threads))); });
    }
    EXPECT_EQ(models[0], models[1]);
  }
}

TEST_F(Training, StoppedAndResumedGivesTheSameModel) {
  for (const ClassifierKind kind : {ClassifierKind::linear, ClassifierKind::distance}) {
    options.classifier = kind;
    options.templates = 3;
    int reports = 0;
    const std::string uninterrupted = train_to_bytes("whole", [&](const TrainingProgress&) {
      ++reports;
      return true;
    });
    ASSERT_GT(reports, 20);
    int stopped = 0;
    for (int stop_at = 0; stop_at < reports; stop_at += 1 + stop_at / 4) {
      const std::string state =
          "stop" + std::to_string(stop_at) + (kind == ClassifierKind::linear ? "l" : "d");
      int seen = 0;
      try {
        train(positives, negatives, options, folder / state,
              [&](const TrainingProgress&) { return seen++ < stop_at; });
      } catch (const TrainingStopped&) {
        ++stopped;
      }
      ASSERT_EQ(train_to_bytes(state), uninterrupted) << "stopped at report " << stop_at << " of " << reports;
    }
    EXPECT_GT(stopped, 8);
  }
}

TEST_F(Training, SizesShareOneDictionary) {
  options.filters = {4, 7, 9};
  const std::vector<Model> models = train(positives, negatives, options, folder / "state", go_on);
  ASSERT_EQ(models.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(models[i].dictionary.size(), options.filters[i]);
    EXPECT_EQ(models[i].templates(), 1);
    EXPECT_THAT(models[i].provenance, HasSubstr("\"negatives\":"));
    EXPECT_THAT(models[2].dictionary.filters().first(options.filters[i]),
                ::testing::ElementsAreArray(models[i].dictionary.filters()));
  }
}

TEST_F(Training, ASizeDoesNotDependOnTheOthers) {
  const auto bytes_of_size = [&](const std::vector<int>& sizes, int size, const std::string& state) {
    options.filters = sizes;
    train_to_bytes(state);
    save_model(load_model(folder / "model", size), folder / "one");
    return test::bytes_of(folder / "one");
  };
  const std::string five = bytes_of_size({5, 9}, 5, "a");
  const std::string nine = bytes_of_size({9}, 9, "b");
  EXPECT_EQ(bytes_of_size({5, 9}, 9, "a"), nine);
  EXPECT_EQ(bytes_of_size({4, 5, 9}, 5, "c"), five);
  EXPECT_EQ(bytes_of_size({5, 9}, 5, "b"), five);  // added to a finished run
}

TEST_F(Training, SizesStoppedAndResumedGiveTheSameModel) {
  options.filters = {4, 9};
  int reports = 0;
  const std::string uninterrupted = train_to_bytes("whole", [&](const TrainingProgress&) {
    ++reports;
    return true;
  });
  const Pieces pieces = train_in_pieces("pieces", 3, 2);
  EXPECT_EQ(pieces.bytes, uninterrupted);
  EXPECT_GT(pieces.runs, 4);
  // What is finished is not done again.
  int again = 0;
  EXPECT_EQ(train_to_bytes("pieces",
                           [&](const TrainingProgress&) {
                             ++again;
                             return true;
                           }),
            uninterrupted);
  EXPECT_EQ(again, 0);
}

// Each of the study's options, by itself.
const std::function<void(TrainingOptions&)> kStudyOptions[] = {
    [](TrainingOptions& o) { o.descriptor.normalisation = Normalisation::l1; },
    [](TrainingOptions& o) { o.descriptor.normalisation = Normalisation::l2; },
    [](TrainingOptions& o) { o.descriptor.patch = 5; },
    [](TrainingOptions& o) { o.descriptor.contrast = Contrast::sensitive; },
    [](TrainingOptions& o) { o.sampling = PatchSampling::uniform; },
    [](TrainingOptions& o) { o.descriptor.patterns = true; },
    [](TrainingOptions& o) { o.jittered_copies = 2; },
    [](TrainingOptions& o) { o.occluded_copies = 1; },
    [](TrainingOptions& o) {
      o.descriptor.contrast = Contrast::sensitive;
      o.descriptor.patterns = true;
      o.jittered_copies = o.occluded_copies = 1;
    },
    [](TrainingOptions& o) { o.descriptor.contrast = Contrast::signed_value; },
    [](TrainingOptions& o) {
      o.descriptor = {5, Contrast::sensitive, Normalisation::l2};
    }};

class StudyTraining : public Training, public ::testing::WithParamInterface<std::size_t> {
 protected:
  StudyTraining() { kStudyOptions[GetParam()](options); }
};

TEST_P(StudyTraining, MakesAModelOfItsOwnThatFindsWhatItWasTrainedOn) {
  options.cost = 100;
  const std::string bytes = train_to_bytes("state");
  const Model model = load_model(folder / "model");
  EXPECT_EQ(model.descriptor, options.descriptor);
  EXPECT_EQ(model.dictionary.size(), 9);
  EXPECT_EQ(model.dictionary.patch(), options.descriptor.patch);

  Options search;
  search.max_size = 24;
  const FilterbankDetector detector(model, search);
  FilterbankWorkspace own;
  int found = 0;
  for (std::size_t i = 0; i < positives.size(); ++i) {
    const Image<std::uint8_t> picture = positives.load(i);
    const auto centred = centre_window(picture.view(), options.window);
    ASSERT_TRUE(detector.prepare(own, centred->view));
    detector.score_windows(own);
    found += detector.score(own.levels[0], centred->x, centred->y) > 0;
  }
  EXPECT_GE(found, 28);

  // The state of the standard training is not taken for this one's, nor the other way round.
  const TrainingOptions study = options;
  options.descriptor = {};
  options.sampling = PatchSampling::contrast;
  options.jittered_copies = options.occluded_copies = 0;
  const std::string standard = train_to_bytes("standard");
  EXPECT_NE(standard, bytes);
  EXPECT_EQ(train_to_bytes("state"), standard);
  options = study;
  EXPECT_EQ(train_to_bytes("standard"), bytes);
}

TEST_P(StudyTraining, SameModelOnAnyNumberOfThreadsStoppedOrNot) {
  const std::string whole = train_to_bytes("whole");
  for (const int threads : {1, 8}) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] { EXPECT_EQ(train_to_bytes("t" + std::to_string(threads)), whole) << threads; });
  }
  const Pieces pieces = train_in_pieces("pieces", 5, 3);
  EXPECT_EQ(pieces.bytes, whole);
  EXPECT_GT(pieces.runs, 3);
}

INSTANTIATE_TEST_SUITE_P(Options, StudyTraining, ::testing::Range(std::size_t{0}, std::size(kStudyOptions)));

// Numbers of copies and, where copies are covered, the place of what is covered decide the model.
TEST_F(Training, StateIsThatOfItsCopies) {
  std::set<std::string> models;
  for (const int close : {0, 1, 2}) {
    for (const int covered : {0, 1}) {
      options.jittered_copies = close;
      options.occluded_copies = covered;
      const std::string model = train_to_bytes("shared");
      EXPECT_EQ(train_to_bytes("own-" + std::to_string(close) + "-" + std::to_string(covered)), model);
      models.insert(model);
    }
  }
  EXPECT_EQ(models.size(), 6U);
  options.object = {6, 4, 12, 16};
  const std::string model = train_to_bytes("shared");
  EXPECT_EQ(train_to_bytes("moved"), model);
}

// More rounds go on from a run with fewer.
TEST_F(Training, MoreRoundsAfterwards) {
  options.rounds = 3;
  const std::string three = train_to_bytes("three");
  options.rounds = 1;
  EXPECT_NE(train_to_bytes("grown"), three);
  options.rounds = 3;
  EXPECT_EQ(train_to_bytes("grown"), three);
}

TEST_F(Training, DamagedStateIsDoneAgain) {
  const std::string whole = train_to_bytes("state");
  const auto damage = [&](const std::string& name) {
    const auto file = folder / ("state/" + name + ".safetensors");
    const std::string bytes = test::bytes_of(file);
    ASSERT_FALSE(bytes.empty()) << file;
    std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  };
  for (const char* name : {"dictionary", "negatives-9-0", "negatives-9-1", "classifier-9-1"}) {
    damage(name);
    damage("classifier-9-2");  // the last step: without it, the others are looked at
    EXPECT_EQ(train_to_bytes("state"), whole) << name;
  }
}

TEST_F(Training, FindsWhatItWasTrainedOn) {
  options.cost = 100;  // descriptors of 6 blocks are short: at 1 the few pictures would not outweigh the bias
  const Model model = train(positives, negatives, options, folder / "state", go_on).front();
  EXPECT_EQ(model.dictionary.size(), 9);
  EXPECT_EQ(model.templates(), 1);
  EXPECT_THAT(model.provenance, HasSubstr("\"positives\":30"));
  Options search;
  search.threshold = -1e9;
  search.max_size = 24;
  const FilterbankDetector detector(model, search);
  const auto workspace = detector.make_workspace();
  int found = 0;
  for (std::size_t i = 0; i < positives.size(); ++i) {
    const Image<std::uint8_t> picture = positives.load(i);
    const GrayView all = picture.view();
    // The window that was trained on: in the middle.
    const GrayView window{all.row((37 - 32) / 2) + (29 - 24) / 2, 24, 32, all.stride()};
    const auto objects = detect(detector, *workspace, window);
    ASSERT_EQ(objects.size(), 1U);
    found += objects[0].score > 0;
  }
  EXPECT_GE(found, 28);
}

TEST_F(Training, ReportsAreInOrder) {
  double elapsed = 0;
  std::vector<std::string> phases;
  train(positives, negatives, options, folder / "state", [&](const TrainingProgress& progress) {
    EXPECT_GE(progress.fraction, 0);
    EXPECT_LE(progress.fraction, 1);
    EXPECT_GE(progress.elapsed, elapsed);
    elapsed = progress.elapsed;
    if (phases.empty() || phases.back() != progress.phase) phases.push_back(progress.phase);
    return true;
  });
  ASSERT_GT(phases.size(), 5U);
  EXPECT_EQ(phases[0], "sampling patches");
  EXPECT_EQ(phases[1], "dictionary");
  EXPECT_EQ(phases[2], "positives");
  EXPECT_EQ(phases.back(), "classifier");
  EXPECT_EQ(std::count(phases.begin(), phases.end(), "hard negatives, round 2 of 2"), 1);
}

TEST_F(Training, PositivesSmallerThanTheWindow) {
  positives.add(test::random_picture({24, 31}, 5));
  for (const int covered : {0, 20}) {
    options.occluded_copies = covered;
    EXPECT_THAT(test::error_of(ExitCode::input,
                               [&] { train(positives, negatives, options, folder / "state", go_on); }),
                AllOf(HasSubstr("'picture-30' is 24x31"), HasSubstr("24x32")));
  }
}

TEST_F(Training, PicturesThatTeachNothing) {
  const auto complaint = [&](const Pictures& with, const Pictures& without) {
    return test::error_of(ExitCode::input, [&] { train(with, without, options, folder / "state", go_on); });
  };
  EXPECT_NE(complaint(Pictures(), negatives), "");
  EXPECT_NE(complaint(positives, Pictures()), "");
  Pictures flat;
  flat.add(test::flat_picture({40, 40}, 77));
  EXPECT_THAT(complaint(flat, flat), HasSubstr("only 0 patches"));
  Pictures tiny;
  tiny.add(test::random_picture({20, 20}, 3));
  for (const ClassifierKind kind : {ClassifierKind::linear, ClassifierKind::distance}) {
    options.classifier = kind;
    EXPECT_THAT(complaint(positives, tiny), HasSubstr("negatives"));
  }
}

TEST_F(Training, StateFolderThatCannotBeMade) {
  std::ofstream(folder / "file") << "x";
  test::expect_error(ExitCode::failed, "--state",
                     [&] { train(positives, negatives, options, folder / "file/state", go_on); });
}

TEST(LearnDictionary, FindsTheDirectionsThatPatchesHave) {
  // Patches along three filters, of either sign and slightly disturbed, must give these filters back.
  const auto truth = test::random_filters(3, 7);
  std::mt19937_64 engine(1);
  std::vector<FloatFilter> patches;
  for (int i = 0; i < 3000; ++i) {
    FloatFilter patch = truth[i % 3];
    const float sign = engine() % 2 == 0 ? 1.0F : -1.0F;
    float mean = 0, energy = 0;
    for (float& c : patch)
      mean += c = sign * c + 0.02F * static_cast<float>(test::random_int(engine, -10, 10)) / 10;
    for (float& c : patch) {
      c -= mean / kTaps;
      energy += c * c;
    }
    for (float& c : patch) c /= std::sqrt(energy);
    patches.push_back(patch);
  }
  const auto learned = learn_dictionary(patches, 3, 10, 1, [](double) { return true; });
  ASSERT_EQ(learned.size(), 3U);
  for (const FloatFilter& filter : truth) {
    double best = 0;
    for (const FloatFilter& other : learned) {
      double cosine = 0;
      for (int i = 0; i < kTaps; ++i) cosine += static_cast<double>(filter[i]) * other[i];
      best = std::max(best, std::fabs(cosine));
    }
    EXPECT_GT(best, 0.995);
  }
  // By value, a filter and its negative are two.
  const auto both = learn_dictionary(
      patches, 6, 10, 1, [](double) { return true; }, Similarity::value);
  for (const FloatFilter& filter : truth) {
    double most = 0, least = 0;
    for (const FloatFilter& other : both) {
      double cosine = 0;
      for (int i = 0; i < kTaps; ++i) cosine += static_cast<double>(filter[i]) * other[i];
      most = std::max(most, cosine);
      least = std::min(least, cosine);
    }
    EXPECT_GT(most, 0.995);
    EXPECT_LT(least, -0.995);
  }
  test::expect_error(ExitCode::input, "only 8 patches", [&] {
    learn_dictionary(std::vector(patches.begin(), patches.begin() + 8), 9, 3, 1, [](double) { return true; });
  });
}

double covered(std::span<const FloatFilter> filters, const std::vector<FloatFilter>& patches) {
  double sum = 0;
  for (const FloatFilter& patch : patches) {
    double best = 0;
    for (const FloatFilter& filter : filters) {
      double cosine = 0;
      for (int i = 0; i < kTaps; ++i) cosine += static_cast<double>(filter[i]) * patch[i];
      best = std::max(best, std::fabs(cosine));
    }
    sum += best;
  }
  return sum;
}

// A picture whose left half has weak structure and whose right half has strong.
TEST(SamplePatches, FollowContrastUnlessUniform) {
  Image<std::uint8_t> picture(80, 80);
  for (int y = 0; y < 80; ++y) {
    for (int x = 0; x < 80; ++x) {
      const bool bar = x < 40 ? y % 4 < 2 : x % 4 < 2;  // lying on the left, upright on the right
      picture.view().at(x, y) = static_cast<std::uint8_t>(bar ? (x < 40 ? 110 : 250) : 100);
    }
  }
  Pictures set;
  set.add(std::move(picture));
  const auto upright_share = [&]<typename Patch>(PatchSampling sampling, Patch) {
    const auto patches = sample_patches<Patch>(set, 2000, sampling, 1, [](double) { return true; });
    EXPECT_EQ(patches.size(), 2000U);
    int upright = 0;
    for (const Patch& patch : patches) {
      double sum = 0;
      double energy = 0;
      for (const float p : patch) {
        sum += p;
        energy += p * p;
      }
      EXPECT_NEAR(sum, 0, 1e-4);
      EXPECT_NEAR(energy, 1, 1e-4);
      upright += patch[0] != patch[1] || patch[1] != patch[2];
    }
    return upright / 2000.0;
  };
  // Contrasts are as 15 to 1. Up to a pixel's column or two between the halves are of neither kind.
  EXPECT_NEAR(upright_share(PatchSampling::uniform, FloatFilter{}), 0.5, 0.06);
  EXPECT_NEAR(upright_share(PatchSampling::contrast, FloatFilter{}), 15.0 / 16, 0.06);
  EXPECT_NEAR(upright_share(PatchSampling::uniform, LargeFilter{}), 0.5, 0.08);
  EXPECT_NEAR(upright_share(PatchSampling::contrast, LargeFilter{}), 15.0 / 16, 0.08);
}

TEST(OrderFilters, EachNextIsTheBestOfThoseLeft) {
  const std::vector<FloatFilter> filters = test::random_filters(12, 3);
  const std::vector<FloatFilter> patches = test::random_filters(500, 4);
  const std::vector<FloatFilter> ordered = order_filters(filters, patches);
  ASSERT_TRUE(std::is_permutation(ordered.begin(), ordered.end(), filters.begin(), filters.end()));
  for (std::size_t n = 1; n < ordered.size(); ++n) {
    const double chosen = covered(std::span(ordered).first(n), patches);
    std::vector<FloatFilter> other(ordered.begin(), ordered.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t k = n; k < ordered.size(); ++k) {
      other.back() = ordered[k];
      ASSERT_GE(chosen, covered(other, patches) - 1e-4) << n << ' ' << k;
    }
  }
  // Not an order that any set of patches gives.
  EXPECT_NE(order_filters(filters, test::random_filters(500, 5)), ordered);
}

TEST(OrderFilters, FirstOnesCoverMoreThanOthers) {
  // Most patches lie along a few of the filters: these come first, whatever place they had.
  const std::vector<FloatFilter> filters = test::random_filters(20, 7);
  std::vector<FloatFilter> patches;
  for (int i = 0; i < 900; ++i) patches.push_back(filters[17 + i % 3]);
  for (int i = 0; i < 17; ++i) patches.push_back(filters[i]);
  const std::vector<FloatFilter> ordered = order_filters(filters, patches);
  EXPECT_THAT(std::vector(ordered.begin(), ordered.begin() + 3),
              ::testing::UnorderedElementsAre(filters[17], filters[18], filters[19]));
}

TEST(OrderFilters, TiesGoToTheLowestIndex) {
  const std::vector<FloatFilter> one = test::random_filters(1, 9);
  FloatFilter opposite = one[0];
  for (float& c : opposite) c = -c;
  // |cos| is the same for both.
  EXPECT_THAT(order_filters({one[0], opposite}, one), ::testing::ElementsAre(one[0], opposite));
  EXPECT_THAT(order_filters({opposite, one[0]}, one), ::testing::ElementsAre(opposite, one[0]));
  EXPECT_THAT(order_filters({opposite, one[0]}, one, Similarity::value),
              ::testing::ElementsAre(one[0], opposite));
}

TEST(QuantiseSeparator, KeepsTheRatioOfWeightsAndBias) {
  Separator separator;
  for (int i = 0; i < 500; ++i) separator.weights.push_back(std::sin(i) * (i % 50 == 0 ? 2 : 1));
  separator.bias = -0.75;
  Model model;
  quantise_separator(separator, model);
  ASSERT_EQ(model.weights.size(), 500U);
  const double step = model.scale * 255 / 0.1;
  for (int i = 0; i < 500; ++i) {
    ASSERT_LE(std::abs(model.weights[i]), 90);
    const double limit = 90 * step;
    ASSERT_NEAR(model.weights[i] * step, std::clamp(separator.weights[i], -limit, limit), 0.5001 * step);
  }
  EXPECT_NEAR(static_cast<double>(model.bias) * model.scale, -0.75, model.scale);
  separator.weights.assign(3, 0.0);
  test::expect_error(ExitCode::failed, [&] { quantise_separator(separator, model); });
}

}  // namespace
}  // namespace sightline::filterbank
