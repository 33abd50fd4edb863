// What one iteration does, fixed before the first one: nodes, the values between them, and which nodes run together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/operator.h"

namespace ps {

struct Node {
  std::string kernel;
  std::unique_ptr<Operator> op;        // none for sources: their values are fed
  std::vector<int> inputs, args;       // values
  std::vector<int> outputs;            // values
  uint64_t key = 0;                    // of random numbers
  bool early = false;                  // computed while shapes are being found, since other shapes depend on it
  bool alias = false;                  // the output is the input's memory under another shape
  bool io = false;                     // waits for files: runs on the threads that may wait
  size_t params_at = 0;                // where in a sample's parameter block
};

struct Value {
  int node = -1;
  int port = 0;
  bool fed = false;                    // given with each iteration (or once for all)
  bool kept = false;                   // lives until the batch is given back: a pipeline output, or read by a later segment
};

// Nodes of the run phase that go through one sample in one go.
struct Group {
  std::vector<int> nodes;
  bool rows = false;                   // tried as one row pipeline
};

// Nodes between two barriers. All samples pass setup, then memory is given out, then all samples run.
struct Segment {
  std::vector<int> nodes;
  std::vector<Group> groups;
  std::vector<int> kept;               // values to be given memory
  bool io = false;
};

struct Plan {
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<int> outputs;
  std::vector<Segment> segments;
  std::vector<Tensor> constants;       // by value; dtype none where not constant
  std::vector<std::vector<uint8_t>> constant_memory;
  size_t params_bytes = 0;

  int add_source();
  int add_node(const char* kernel, Spec spec, std::vector<int> inputs, std::vector<int> args, uint64_t key, int flags);
  void add_segment(const std::vector<std::vector<int>>& groups, bool io);
  void finish();
};

enum NodeFlags : int { kEarly = 1, kAlias = 2, kIo = 4 };

}  // namespace ps
