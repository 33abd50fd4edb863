// What one iteration does, fixed before the first one: nodes, the values between them, and which nodes run together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/operator.h"
#include "penstock.h"

namespace ps {

// The samples of another scope for which a value is true, or false: one side of a branch. -1 is the scope of all
// samples.
struct Scope {
  int parent = -1;
  int predicate = -1;                  // the value: a BOOL per sample, computed by the time when shapes are found
  bool wanted = true;
};

struct Node {
  std::string kernel;
  std::unique_ptr<Operator> op;        // none for sources: their values are fed
  std::vector<int> inputs, args;       // values
  std::vector<int> outputs;            // values
  uint64_t key = 0;                    // of random numbers
  int scope = -1;                      // the samples that it runs on
  bool early = false;                  // computed while shapes are being found, since other shapes depend on it
  bool alias = false;                  // the output is the input's memory under another shape
  bool batchwise = false;              // looks at all samples of its inputs: those are made in earlier segments
  bool mixes = false;                  // its samples may be of several types, which one batch may not
  bool tolerant = false;               // where it finds a sample broken, the others of the batch are looked at, too
  bool io = false;                     // waits for files: runs on the threads that may wait
  bool host_output = false;            // of a GPU segment: its outputs are in the host's memory
  bool rows = false;                   // may be part of a row pipeline, or where no other node is above it its source
  bool device_output = false;          // outside GPU segments: its outputs are in the GPU's memory nevertheless
  bool shows_input() const { return alias && !batchwise; }   // that of the same sample
  size_t params_at = 0;                // where in a sample's parameter block
};

struct Value {
  int node = -1;
  int port = 0;
  int scope = -1;                      // the samples that have it
  bool fed = false;                    // given with each iteration (or once for all)
  bool gpu = false;                    // in device memory
  bool kept = false;                   // lives until the batch is given back: a pipeline output, or read by a later
                                       // segment
};

// Nodes of the run phase that go through one sample in one go.
struct Group {
  std::vector<int> nodes;
  int no_rows = -1;                    // the first node that does not work on rows; -1: tried as one row pipeline
  int scope = -1;                      // of each of the nodes
  std::string name = {};               // for profilers: "decode_image, resize"
  int counted = -1;                    // its number among those of several nodes, whose passes are counted
};

// Which threads work on a segment. On a GPU, and in Python, it is one batch at a time, not one sample.
enum class Where : int { cpu = PS_WHERE_CPU, io = PS_WHERE_IO, gpu = PS_WHERE_GPU, python = PS_WHERE_PYTHON };

// Nodes between two barriers. All samples pass setup, then memory is given out, then all samples run.
struct Segment {
  std::vector<int> nodes;
  std::vector<Group> groups;
  std::vector<int> kept;               // values to be given memory
  std::vector<int> scopes;             // whose samples are known when setup is over
  Where where = Where::cpu;
  bool host_part = false;              // of a GPU segment: CPUs do something for each sample before
  bool device_memory = false;          // its values, or some of them, lie in the GPU's memory
};

struct Plan {
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<int> outputs;
  std::vector<Segment> segments;
  std::vector<Scope> scopes;
  std::vector<Tensor> constants;       // by value; dtype none where not constant
  std::vector<std::vector<uint8_t>> constant_memory;
  size_t params_bytes = 0;
  size_t counted_groups = 0;

  int add_source(bool gpu);
  int add_node(const char* kernel, Spec spec, std::vector<int> inputs, std::vector<int> args, uint64_t key, int flags,
               int scope);
  int add_scope(int parent, int predicate, bool wanted);
  void limit(int value, int scope);    // only these samples have it
  void add_segment(const std::vector<std::vector<int>>& groups, Where where);
  void finish();
  void check_value(int v) const;       // that there is such a one
  void check_node(int n) const;
  void check_scope(int scope) const;
  int origin(int value) const;         // the value whose memory this one shows: itself, unless an alias made it
  bool uses_gpu() const;
  bool uses_python() const;

 private:
  std::vector<size_t> homes() const;
};


}  // namespace ps
