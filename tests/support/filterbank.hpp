#pragma once
/// Small models and pictures for the tests of the filter-bank detector.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "detectors/filterbank/detector.hpp"
#include "detectors/filterbank/model.hpp"
#include "image/view.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::test {

/// Random integer of [low, high].
int random_int(std::mt19937_64& engine, int low, int high);

/// Random filters of zero mean and unit length; for FloatFilter and LargeFilter.
template <typename FilterType = filterbank::FloatFilter>
std::vector<FilterType> random_filters(int count, unsigned seed);

/// Random filters and weights; a window of 24x32 pixels unless asked otherwise.
filterbank::Model random_model(int filters, unsigned seed,
                               filterbank::ClassifierKind kind = filterbank::ClassifierKind::linear,
                               int templates = 1, filterbank::WindowShape window = {3, 4});
/// The same with another descriptor.
filterbank::Model random_model(int filters, unsigned seed, const filterbank::Descriptor& descriptor);

/// A random model in several sizes, ascending, over one dictionary.
std::vector<filterbank::Model> random_sizes(
    const std::vector<int>& sizes, unsigned seed,
    filterbank::ClassifierKind kind = filterbank::ClassifierKind::linear, int templates = 1);

/// A picture with structure at several scales: rectangles of random brightness, and a little noise.
Image<std::uint8_t> random_picture(Size size, unsigned seed);

Image<std::uint8_t> flat_picture(Size size, std::uint8_t value);

/// In a workspace of its own.
std::vector<Detection> detect_fresh(const Detector& detector, PictureView frame);
/// Runs all stages before grouping; the workspace as the detector's own type.
filterbank::FilterbankWorkspace& scored(const filterbank::FilterbankDetector& detector, Workspace& workspace,
                                        GrayView frame);

}  // namespace sightline::test
