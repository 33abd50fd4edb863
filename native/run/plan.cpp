#include "run/plan.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cuda/record/operator.h"
#include "rows/frames.h"

namespace ps {
namespace {

bool works_on_rows(const Operator& op) { return dynamic_cast<const RowOperator*>(&op); }

}  // namespace

int Plan::add_source(bool gpu) {
  values.push_back({-1, 0, -1, true, gpu, true});
  constants.emplace_back();
  return int(values.size()) - 1;
}

void Plan::check_value(int v) const {
  if (v < 0 || size_t(v) >= values.size())
    fail(ErrorKind::argument,
         "the plan has no value " + std::to_string(v) + ": there are " + std::to_string(values.size()));
}

void Plan::check_node(int n) const {
  if (n < 0 || size_t(n) >= nodes.size())
    fail(ErrorKind::argument,
         "the plan has no node " + std::to_string(n) + ": there are " + std::to_string(nodes.size()));
}

void Plan::check_scope(int scope) const {
  if (scope < -1 || scope >= int(scopes.size()))
    fail(ErrorKind::argument, "the plan has no scope " + std::to_string(scope));
}

int Plan::add_scope(int parent, int predicate, bool wanted) {
  check_scope(parent);
  check_value(predicate);
  scopes.push_back({parent, predicate, wanted});
  return int(scopes.size()) - 1;
}

void Plan::limit(int value, int scope) {
  check_value(value);
  check_scope(scope);
  values[size_t(value)].scope = scope;
}

int Plan::add_node(const char* kernel, Spec spec, std::vector<int> inputs, std::vector<int> args, uint64_t key,
                   int flags, int scope) {
  check_scope(scope);
  for (int v : inputs) check_value(v);
  for (int v : args) check_value(v);
  if ((flags & PS_NODE_ALIAS) && inputs.empty())
    fail(ErrorKind::argument, std::string(kernel) + ": an alias has an input to show");
  Node n;
  n.kernel = kernel;
  spec.num_inputs = int(inputs.size());
  n.op = make_operator(kernel, spec);
  n.rows = works_on_rows(*n.op) || dynamic_cast<const SourceOperator*>(n.op.get()) ||
           dynamic_cast<const SequenceSource*>(n.op.get());
  n.inputs = std::move(inputs);
  n.args = std::move(args);
  n.key = key;
  n.scope = scope;
  n.mixes = flags & PS_NODE_MIXES;
  n.early = flags & PS_NODE_EARLY;
  n.alias = flags & PS_NODE_ALIAS;
  n.io = flags & PS_NODE_IO;
  n.host_output = flags & PS_NODE_HOST_OUTPUT;
  n.batchwise = flags & PS_NODE_BATCHWISE;
  n.tolerant = flags & PS_NODE_TOLERANT;
  n.device_output = flags & PS_NODE_DEVICE_OUTPUT;
  n.params_at = params_bytes;
  params_bytes += (n.op->params_size() + 63) / 64 * 64;
  for (int k = 0; k < spec.num_outputs; k++) {
    n.outputs.push_back(int(values.size()));
    values.push_back({int(nodes.size()), k, scope, false, false, false});
    constants.emplace_back();
  }
  nodes.push_back(std::move(n));
  return int(nodes.size()) - 1;
}

void Plan::add_segment(const std::vector<std::vector<int>>& groups, Where where) {
  Segment s;
  s.where = where;
  for (const auto& g : groups) {
    for (int n : g) check_node(n);
    s.nodes.insert(s.nodes.end(), g.begin(), g.end());
    if (nodes[size_t(g[0])].early) continue;
    Group group{g};
    if (g.size() > 1) group.counted = int(counted_groups++);
    group.scope = nodes[size_t(g[0])].scope;
    for (int n : g)
      if (nodes[size_t(n)].scope != group.scope)
        fail(ErrorKind::argument, "a group of nodes that run on different samples");
    for (int n : g) group.name += (group.name.empty() ? "" : ", ") + nodes[size_t(n)].kernel;
    if (where == Where::gpu) {
      s.device_memory = true;
      for (int n : g) {
        const Node& node = nodes[size_t(n)];
        const auto* op = dynamic_cast<const GpuOperator*>(node.op.get());
        if (!op && !node.alias) fail(ErrorKind::internal, node.kernel + " has no GPU part");
        s.host_part |= op && op->has_host_part();
        for (int v : node.outputs) values[size_t(v)].gpu = !node.host_output;
      }
      s.groups.push_back(std::move(group));
      continue;
    }
    for (int n : g) {
      const bool device_memory = nodes[size_t(n)].device_output;
      for (int v : nodes[size_t(n)].outputs) {
        values[size_t(v)].gpu = device_memory;
        values[size_t(v)].kept = device_memory && where != Where::python;   // a worker's own memory is the host's
      }
      s.device_memory |= device_memory && where != Where::python;
    }
    const auto fits = [&](int n) { return n == g[0] ? nodes[size_t(n)].rows : works_on_rows(*nodes[size_t(n)].op); };
    const bool frames = dynamic_cast<const SequenceSource*>(nodes[size_t(g[0])].op.get());     // go as far as they can
    if (const auto found = std::find_if_not(g.begin(), g.end(), fits); found != g.end() && !frames)
      group.no_rows = *found;
    s.groups.push_back(std::move(group));
  }
  std::sort(s.nodes.begin(), s.nodes.end());   // nodes are numbered in topological order
  segments.push_back(std::move(s));
}

// The segment that each node is in. Fails unless that is one, and what a node reads is there when it runs: from an
// earlier segment, or from an earlier group or earlier in its own. Early nodes run in the order of their numbers,
// before others.
std::vector<size_t> Plan::homes() const {
  constexpr size_t nowhere = SIZE_MAX;
  std::vector<size_t> home(nodes.size(), nowhere), place(nodes.size(), 0);
  size_t at = nodes.size();                            // behind the early ones, whose places are their numbers
  for (size_t s = 0; s < segments.size(); s++) {
    for (int n : segments[s].nodes) {
      if (std::exchange(home[size_t(n)], s) != nowhere) fail(ErrorKind::argument, "a node of the plan is there twice");
      place[size_t(n)] = size_t(n);
    }
    for (const Group& g : segments[s].groups)
      for (int n : g.nodes)
        if (!nodes[size_t(n)].early) place[size_t(n)] = ++at;
  }
  for (size_t n = 0; n < nodes.size(); n++) {
    if (home[n] == nowhere) fail(ErrorKind::argument, nodes[n].kernel + " is in no segment of the plan");
    auto check = [&](int v, bool elements) {
      if (values[size_t(v)].fed) return;
      const auto from = size_t(values[size_t(v)].node);
      // Shapes are found, and early nodes run, in the order of the numbers; those in Python in any order.
      const bool late = segments[home[n]].where == Where::python || (elements ? place[from] >= place[n] : from >= n);
      if (home[from] > home[n] || (home[from] == home[n] && late))
        fail(ErrorKind::argument, nodes[n].kernel + " reads what " + nodes[from].kernel + " makes only after it");
    };
    const Node& node = nodes[n];
    for (size_t i = 0; i < node.inputs.size(); i++) check(node.inputs[i], node.op->reads_elements(int(i)));
    for (int v : node.args) check(v, true);
    for (int s = node.scope; s >= 0; s = scopes[size_t(s)].parent) check(scopes[size_t(s)].predicate, true);
  }
  return home;
}

// A value outlives its segment's run if it is an output or a node of a later segment reads it.
void Plan::finish() {
  const std::vector<size_t> home = homes();
  for (int v : outputs) values[size_t(v)].kept = true;
  for (size_t n = nodes.size(); n-- > 0;) {    // backwards: what an alias keeps, its input keeps
    const Node& node = nodes[n];
    auto reads = [&](int v) {
      Value& value = values[size_t(v)];
      if (!value.fed && home[size_t(value.node)] != home[n]) value.kept = true;
    };
    std::for_each(node.inputs.begin(), node.inputs.end(), reads);
    std::for_each(node.args.begin(), node.args.end(), reads);
    const auto is_kept = [&](int v) { return values[size_t(v)].kept; };
    if (node.alias && std::any_of(node.outputs.begin(), node.outputs.end(), is_kept))
      values[size_t(node.inputs[0])].kept = true;
  }
  for (size_t v = 0; v < values.size(); v++)
    if (values[v].kept && !values[v].fed) segments[home[size_t(values[v].node)]].kept.push_back(int(v));
  for (size_t s = 0; s < scopes.size(); s++) {
    const Value& predicate = values[size_t(scopes[s].predicate)];
    const size_t known = predicate.fed ? 0 : home[size_t(predicate.node)];
    if (known < segments.size()) segments[known].scopes.push_back(int(s));
  }
}

int Plan::origin(int v) const {
  while (!values[size_t(v)].fed && nodes[size_t(values[size_t(v)].node)].alias)
    v = nodes[size_t(values[size_t(v)].node)].inputs[0];
  return v;
}

bool Plan::uses_gpu() const {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.device_memory; });
}

bool Plan::uses_python() const {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.where == Where::python; });
}

}  // namespace ps
