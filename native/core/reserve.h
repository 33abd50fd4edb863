// Memory that a pool got in advance, in few large chunks, and hands out piece by piece.
#pragma once

#include <cstddef>
#include <vector>

namespace ps {

// Where memory comes from.
struct Allocator {
  virtual ~Allocator() = default;
  virtual void* allocate(size_t bytes) = 0;   // null: refused
  virtual void free(void* data, size_t bytes) = 0;
};

// Of a chunk whose pieces are all back, new ones are cut from its start. Not for several threads.
class Reserve {
 public:
  void add(void* chunk, size_t bytes) { chunks_.push_back({static_cast<char*>(chunk), bytes}); }
  void* take(size_t bytes);                   // null: no chunk has so much left
  bool give(void* piece);                     // false: it is of no chunk
  // Gives chunks without pieces to the allocator; returns their bytes.
  size_t release(Allocator& allocator);

 private:
  struct Chunk {
    char* data;
    size_t bytes, used = 0, pieces = 0;
  };
  std::vector<Chunk> chunks_;
};

}  // namespace ps
