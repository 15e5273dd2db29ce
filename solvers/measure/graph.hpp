/// \file
/// A schedule for results that depend on each other: their order, and how long each is kept.
#pragma once

#include <cstddef>
#include <vector>

namespace quarksmith {

/// A result that depends on others, whose numbers come before its own.
struct GraphNode {
  std::vector<int> inputs;
  std::size_t bytes = 0;
  int group = 0;         ///< nodes of a group are made one after another if possible
  bool wanted = false;   ///< whether the node is a result; others are made only as inputs
  std::size_t work = 0;  ///< additional bytes while it is made
};

/// A step of a schedule: a node is made, then others are freed.
struct GraphStep {
  int node;
  std::vector<int> freed;
  std::size_t bytes;  ///< in use while the node is made, before others are freed
};

/// A schedule in which each node is made once, after its inputs, and freed after its last use. The next result is
/// always the one for which the fewest bytes are missing; equal ones come in the order of the nodes.
std::vector<GraphStep> schedule(const std::vector<GraphNode>& nodes);
/// The largest number of bytes in use at a time.
std::size_t peak_bytes(const std::vector<GraphStep>& steps);

}  // namespace quarksmith
