#include "solvers/measure/graph.hpp"

#include <algorithm>

namespace quarksmith {
namespace {

/// Adds a node and all that it depends on, as far as missing, in the order of the nodes.
void collect_missing(const std::vector<GraphNode>& nodes, const std::vector<bool>& made, int node,
                     std::vector<int>& missing) {
  if (made[node] || std::find(missing.begin(), missing.end(), node) != missing.end()) return;
  for (const int input : nodes[node].inputs) collect_missing(nodes, made, input, missing);
  missing.push_back(node);
}

/// The result for which the fewest bytes are missing, and what is missing; nothing if all are there.
std::vector<int> next_missing(const std::vector<GraphNode>& nodes, const std::vector<bool>& made) {
  std::vector<int> best;
  std::size_t least = 0;
  for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
    if (!nodes[n].wanted || made[n]) continue;
    std::vector<int> missing;
    collect_missing(nodes, made, n, missing);
    std::size_t bytes = 0;
    for (const int m : missing) bytes += nodes[m].bytes;
    if (best.empty() || bytes < least) {
      best = missing;
      least = bytes;
    }
  }
  return best;
}

/// An order that keeps groups together where inputs allow it.
std::vector<int> grouped(const std::vector<GraphNode>& nodes, std::vector<int> left) {
  std::vector<int> order;
  int group = -1;
  while (!left.empty()) {
    const auto ready = [&](int n) {
      return std::none_of(nodes[n].inputs.begin(), nodes[n].inputs.end(),
                          [&](int i) { return std::find(left.begin(), left.end(), i) != left.end(); });
    };
    auto chosen = std::find_if(left.begin(), left.end(), [&](int n) { return nodes[n].group == group && ready(n); });
    if (chosen == left.end()) chosen = std::find_if(left.begin(), left.end(), ready);
    group = nodes[*chosen].group;
    order.push_back(*chosen);
    left.erase(chosen);
  }
  return order;
}

}  // namespace

std::vector<GraphStep> schedule(const std::vector<GraphNode>& nodes) {
  std::vector<bool> made(nodes.size());
  std::vector<int> order;
  for (std::vector<int> missing; !(missing = next_missing(nodes, made)).empty();)
    for (const int n : grouped(nodes, missing)) {
      made[n] = true;
      order.push_back(n);
    }
  std::vector<int> last(nodes.size(), -1);
  for (int step = 0; step < static_cast<int>(order.size()); ++step) {
    last[order[step]] = step;
    for (const int input : nodes[order[step]].inputs) last[input] = step;
  }
  std::vector<GraphStep> steps;
  std::size_t bytes = 0;
  for (int step = 0; step < static_cast<int>(order.size()); ++step) {
    bytes += nodes[order[step]].bytes;
    GraphStep& s = steps.emplace_back(GraphStep{order[step], {}, bytes + nodes[order[step]].work});
    for (int n = 0; n < static_cast<int>(nodes.size()); ++n)
      if (last[n] == step) {
        s.freed.push_back(n);
        bytes -= nodes[n].bytes;
      }
  }
  return steps;
}

std::size_t peak_bytes(const std::vector<GraphStep>& steps) {
  std::size_t most = 0;
  for (const GraphStep& s : steps) most = std::max(most, s.bytes);
  return most;
}

}  // namespace quarksmith
