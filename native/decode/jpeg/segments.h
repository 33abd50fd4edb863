// The entropy-coded bytes of a scan, cut at its restart markers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ps::jpeg {

class Segments {
 public:
  // So many bytes after a segment's end may be read (their contents are undefined): more than any MCU can take up.
  static constexpr size_t kSlack = 4096;

  // `first`: the index of the segment that the bytes begin in.
  void start(const uint8_t* scan, size_t size, int64_t first = 0);
  // Opens the segment of that index; indices must rise. false: a restart marker before it is missing or out of order,
  // or the stuffing is not what an encoder writes.
  bool open(int64_t number);

  // The open segment without byte stuffing.
  const uint8_t* begin() const { return bytes_.data(); }
  const uint8_t* end() const { return bytes_.data() + length_; }
  const uint8_t* source() const { return from_; }    // where it begins in the file

 private:
  bool pass_marker();

  const uint8_t* at_ = nullptr;    // first byte of segment next_
  const uint8_t *limit_ = nullptr, *from_ = nullptr;
  int64_t next_ = 0;
  std::vector<uint8_t> bytes_;
  size_t length_ = 0;
};

}  // namespace ps::jpeg
