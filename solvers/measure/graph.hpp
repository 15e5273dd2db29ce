/// \file
/// The order in which things are made of others, and how long each is kept.
#pragma once

#include <cstddef>
#include <vector>

namespace quarksmith {

/// A result that depends on others, whose numbers come before its own.
struct GraphNode {
  std::vector<int> inputs;
  std::size_t bytes = 0;
  int group = 0;         ///< those of a group are made one after another where others allow it
  bool wanted = false;   ///< a result; what is not is made only for others
  std::size_t work = 0;  ///< bytes that making it takes besides
};

/// A node is made, then others are freed.
struct GraphStep {
  int node;
  std::vector<int> freed;
  std::size_t bytes;  ///< taken while it is made, before others are freed
};

/// Each node once, after its inputs; each is freed with its last use. Results come in the order of the fewest bytes
/// that are missing for them, equal ones in that of the nodes.
std::vector<GraphStep> schedule(const std::vector<GraphNode>& nodes);
/// The most bytes that are kept at a time.
std::size_t peak_bytes(const std::vector<GraphStep>& steps);

}  // namespace quarksmith
