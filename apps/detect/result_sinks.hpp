#pragma once
/// Sinks of `detect` for results and what is computed from them.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/result_comparison.hpp"
#include "base/error.hpp"
#include "detection/result_writer.hpp"
#include "pipeline/runs/digest.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// Computes the digest of each frame of one input. Run digest and notes must outlive it.
class DigestSink : public pipeline::Sink {
 public:
  DigestSink(pipeline::RunDigest& run, ResultNotes& notes, std::vector<std::string> labels)
      : run_(run), notes_(notes), labels_(std::move(labels)) {}
  void accept(const Frame&, const FrameResult& result) override {
    const auto digest = pipeline::digest_of(result.objects, labels_);
    run_.add(digest);
    notes_.digest = pipeline::digits_of(digest);
  }

 private:
  pipeline::RunDigest& run_;
  ResultNotes& notes_;
  std::vector<std::string> labels_;
};

/// Writes results with their notes. Writer and notes must outlive it.
class NotedResultSink : public pipeline::Sink {
 public:
  /// @param goes_on  the run has other outputs, which are written on when the reader of standard output has
  ///                 seen enough
  NotedResultSink(ResultWriter& writer, const ResultNotes& notes, bool goes_on)
      : writer_(writer), notes_(notes), goes_on_(goes_on) {}
  void accept(const Frame&, const FrameResult& result) override {
    try {
      writer_.write(result, notes_);
    } catch (const Error& error) {
      if (!goes_on_ || error.code() != ExitCode::done) throw;
    }
  }

 private:
  ResultWriter& writer_;
  const ResultNotes& notes_;
  const bool goes_on_;
};

/// Compares results with stored ones. Comparison and notes must outlive it.
class ComparisonSink : public pipeline::Sink {
 public:
  ComparisonSink(ResultComparison& comparison, const ResultNotes& notes, std::vector<std::string> labels)
      : comparison_(comparison), notes_(notes), labels_(std::move(labels)) {}
  void accept(const Frame&, const FrameResult& result) override {
    comparison_.compare(json_line(result, labels_, notes_));
  }

 private:
  ResultComparison& comparison_;
  const ResultNotes& notes_;
  std::vector<std::string> labels_;
};

}  // namespace sightline::apps
