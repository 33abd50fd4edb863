// The entropy-coded bytes of JPEG scans without byte stuffing, cut at their restart markers. The same bytes are looked
// at twice: how many remain of each piece must be known before the first one of any can be written.
#pragma once

#include "kernels/device/block_scan.h"
#include "kernels/device/jpeg.h"

namespace ps::device {

struct JpegUnstuffMemory {
  unsigned char bytes[kJpegPieceBytes + 8];
  uint32_t counts[kJpegRuns], totals[kJpegThreads];
};

#if !PS_HOST
// A piece of the file in shared memory, with a word before and one behind it.
struct JpegBytes {
  const JpegPicture& p;
  const unsigned char* memory;         // from the byte `origin` on
  int64_t origin;

  PS_FN int at(int64_t i) const {      // behind the file's end there is a marker, as there should be before it
    return i < int64_t(p.scan) ? 0 : i < int64_t(p.end) ? memory[i - origin] : 0xD9;
  }
  // Tells the visitor of what the bytes from `begin` on are: byte(value), marker(code), damage(). Returns whether the
  // scan ends there.
  template <class Visit> PS_FN bool run(int64_t begin, Visit& visit) const {
    int before = at(begin - 2), last = at(begin - 1), now = at(begin);
    for (int64_t i = begin; i < begin + kJpegRunBytes; i++) {
      const int next = at(i + 1);
      if (i >= int64_t(p.end)) return true;
      if (i >= int64_t(p.scan)) {
        const bool second = last == 0xFF;            // of a pair that begins with FF
        if (now != 0xFF) {
          if (!second) visit.byte(now);
          else if (now == 0 && before == 0xFF) visit.damage();
        } else if (next == 0) {
          visit.byte(now);
        } else if (next != 0xFF) {                   // not a fill byte
          if (!p.has_restarts || (next & 0xF8) != 0xD0) return true;
          visit.marker(next);
        }
      }
      before = last, last = now, now = next;
    }
    return false;
  }
};

PS_FN JpegBytes load_piece(const JpegPicture& p, int number, unsigned char* memory) {
  const int64_t first = (int64_t(p.first_piece) + number) * kJpegPieceBytes / 4 - 1;
  const int64_t words = (int64_t(p.end) + 3) / 4;
  auto* to = reinterpret_cast<uint32_t*>(memory);
  for (int i = thread(); i < kJpegPieceBytes / 4 + 2; i += threads())
    if (first + i >= 0 && first + i < words) to[i] = reinterpret_cast<const uint32_t*>(p.file)[first + i];
  sync();
  return {p, memory, first * 4};
}

// Of a run or piece, in one number: bytes that remain, from bit 13 on markers, in bit 31 whether the scan ended.
struct JoinRuns {
  PS_FN uint32_t operator()(uint32_t a, uint32_t b) const { return a >> 31 ? a : a + b; }
};
struct JpegCount {
  uint32_t sum = 0;
  PS_FN void byte(int) { sum++; }
  PS_FN void marker(int) { sum += 1 << 13; }
  PS_FN void damage() {}
};

PS_FN JpegBytes count_runs(const JpegPicture& p, int number, JpegUnstuffMemory& m) {
  const JpegBytes bytes = load_piece(p, number, m.bytes);
  for (int r = thread(); r < kJpegRuns; r += threads()) {
    JpegCount count;
    const bool ended = bytes.run(bytes.origin + 4 + r * kJpegRunBytes, count);
    m.counts[r] = count.sum | uint32_t(ended) << 31;
  }
  sync();
  scan_values(m.counts, kJpegRuns, m.totals, uint32_t(0), JoinRuns());
  return bytes;
}

// A block for each piece.
PS_FN void jpeg_count(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = *reinterpret_cast<JpegUnstuffMemory*>(memory);
  const JpegBlock b = jpeg_block(l);
  count_runs(b.picture, b.number, m);
  const uint32_t all = m.counts[kJpegRuns - 1];
  if (thread() == 0) b.picture.piece[b.number] = {all & 0x1FFF, (all >> 13 & 0xFFF) | (all >> 31 << 31)};
}

struct JoinPieces {
  PS_FN JpegPiece operator()(const JpegPiece& a, const JpegPiece& b) const {
    if (a.ended()) return a;
    return {a.bytes + b.bytes, a.markers + b.markers};
  }
};

// A block for each picture: sums of its pieces. Segments whose markers are not found later remain empty.
PS_FN void jpeg_place(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  const JpegPicture& p = jpeg_block(l).picture;
  scan_values(p.piece, p.pieces, reinterpret_cast<JpegPiece*>(memory), JpegPiece{0, 0}, JoinPieces());
  const uint32_t bits = p.piece[p.pieces - 1].bytes * 8;
  for (uint32_t i = uint32_t(thread()); i <= p.segments; i += uint32_t(threads())) p.segment[i] = i ? bits : 0;
  if (thread() == 0) *p.status = {0, 0, 0, 0};
}

struct JpegStore {
  const JpegPicture& p;
  uint32_t at, markers;
  PS_FN void byte(int value) { p.data[at++ ^ 3] = uint8_t(value); }
  // The one behind the last segment, if there is one, ends the scan whatever its number.
  PS_FN void marker(int code) {
    const uint32_t number = markers++;
    if (number + 1 > p.segments) return;
    if (number + 1 < p.segments && (uint32_t(code) & 7) != (number & 7)) damage();
    p.segment[number + 1] = at * 8;
  }
  PS_FN void damage() { p.status->broken = 1; }
};

// A block for each piece.
PS_FN void jpeg_unstuff(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = *reinterpret_cast<JpegUnstuffMemory*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  const JpegPiece before = b.number ? p.piece[b.number - 1] : JpegPiece{0, 0};
  if (before.ended()) return;
  const JpegBytes bytes = count_runs(p, b.number, m);
  for (int r = thread(); r < kJpegRuns; r += threads()) {
    const uint32_t runs = r ? m.counts[r - 1] : 0;
    if (runs >> 31) continue;
    JpegStore store{p, before.bytes + (runs & 0x1FFF), before.markers + (runs >> 13 & 0xFFF)};
    bytes.run(bytes.origin + 4 + r * kJpegRunBytes, store);
  }
}
#endif

}  // namespace ps::device
