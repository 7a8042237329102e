#include "detection/assignment.hpp"

#include <limits>
#include <stdexcept>

namespace sightline {

std::span<const int> Assignment::solve(std::span<const double> costs, std::size_t rows, std::size_t columns) {
  if (costs.size() != rows * columns)
    throw std::invalid_argument("an assignment's costs do not fit its size");
  result_.assign(rows, -1);
  // The search wants at least as many columns as rows.
  if (rows <= columns) {
    assign(costs.data(), rows, columns);
    for (std::size_t column = 1; column <= columns; ++column) {
      if (row_of_[column] != 0) result_[row_of_[column] - 1] = static_cast<int>(column) - 1;
    }
  } else {
    transpose(costs, rows, columns);
    assign(transposed_.data(), columns, rows);
    for (std::size_t row = 1; row <= rows; ++row) {
      if (row_of_[row] != 0) result_[row - 1] = static_cast<int>(row_of_[row]) - 1;
    }
  }
  return result_;
}

void Assignment::transpose(std::span<const double> costs, std::size_t rows, std::size_t columns) {
  transposed_.resize(costs.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      transposed_[column * rows + row] = costs[row * columns + column];
    }
  }
}

// Adds the rows one by one, each by the cheapest path that moves rows which are already there to other
// columns. Column 0 stands for "not yet": it holds the row that is being added.
void Assignment::assign(const double* costs, std::size_t rows, std::size_t columns) {
  row_potential_.assign(rows + 1, 0.0);
  column_potential_.assign(columns + 1, 0.0);
  row_of_.assign(columns + 1, 0);
  previous_.assign(columns + 1, 0);
  for (std::size_t row = 1; row <= rows; ++row) {
    row_of_[0] = row;
    std::size_t column = shortest_path(costs, columns);
    while (column != 0) {
      row_of_[column] = row_of_[previous_[column]];
      column = previous_[column];
    }
  }
}

// Dijkstra's search over reduced costs, which the potentials keep from being negative. Ends at a free column.
std::size_t Assignment::shortest_path(const double* costs, std::size_t columns) {
  distance_.assign(columns + 1, std::numeric_limits<double>::infinity());
  reached_.assign(columns + 1, 0);
  std::size_t current = 0;
  while (row_of_[current] != 0) {
    reached_[current] = 1;
    const std::size_t row = row_of_[current];
    const double* row_costs = costs + (row - 1) * columns;
    std::size_t next = 0;
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t column = 1; column <= columns; ++column) {
      if (reached_[column]) continue;
      const double reduced = row_costs[column - 1] - row_potential_[row] - column_potential_[column];
      if (reduced < distance_[column]) {
        distance_[column] = reduced;
        previous_[column] = current;
      }
      if (distance_[column] < step) {
        step = distance_[column];
        next = column;
      }
    }
    for (std::size_t column = 0; column <= columns; ++column) {
      if (reached_[column]) {
        row_potential_[row_of_[column]] += step;
        column_potential_[column] -= step;
      } else {
        distance_[column] -= step;
      }
    }
    current = next;
  }
  return current;
}

}  // namespace sightline
