#pragma once
/// Optimal one-to-one assignment.

#include <cstddef>
#include <span>
#include <vector>

namespace sightline {

/// Pairs rows with columns so that the sum of the pairs' costs is the smallest possible and as many pairs as
/// possible are made: min(rows, columns). The Hungarian method by shortest augmenting paths with potentials
/// (H. W. Kuhn, 1955; R. Jonker and A. Volgenant, "A Shortest Augmenting Path Algorithm for Dense and Sparse
/// Linear Assignment Problems", Computing 38, 1987): O(n^2 m) for n <= m, in practice far less where most
/// rows have a favourite of their own.
///
/// The choice among several best assignments is deterministic: ties within a search go to the lowest index,
/// and equal costs throughout pair row i with column i. Buffers grow to the largest problem and are then
/// reused. Thread-safety: one thread at a time.
class Assignment {
 public:
  /// @param costs  `rows` x `columns` finite numbers, row after row
  /// @return for each row its column, or -1 where columns are fewer; valid until the next call
  /// Throws std::invalid_argument where the sizes do not fit.
  std::span<const int> solve(std::span<const double> costs, std::size_t rows, std::size_t columns);

 private:
  void transpose(std::span<const double> costs, std::size_t rows, std::size_t columns);
  void assign(const double* costs, std::size_t rows, std::size_t columns);
  std::size_t shortest_path(const double* costs, std::size_t columns);

  std::vector<double> transposed_;
  std::vector<double> row_potential_;
  std::vector<double> column_potential_;
  std::vector<double> distance_;       ///< distance of each column from the tree of alternating paths
  std::vector<std::size_t> previous_;  ///< column before it on the shortest path
  std::vector<std::size_t> row_of_;    ///< row of each column; 0: free. Both count from 1 inside
  std::vector<char> reached_;
  std::vector<int> result_;
};

}  // namespace sightline
