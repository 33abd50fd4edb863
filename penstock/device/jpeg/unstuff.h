// The entropy-coded bytes of JPEG scans without byte stuffing, cut at their restart markers. The same bytes are looked
// at twice: how many remain of each piece must be known before the first one of any can be written.
#pragma once

#include "device/base/bits.h"
#include "device/base/block_scan.h"
#include "device/jpeg/jpeg.h"

namespace ps::device {

struct JpegUnstuffMemory {
  static constexpr int kWords = kJpegPieceBytes / 4 + 1;   // output may begin and end within one
  uint32_t words[kWords + kWords / 32 + 1], totals[kJpegThreads];
  JpegPiece before;
};

#if !PS_HOST
// Bytes of a file that a thread looks at; bit i stands for the byte i.
struct JpegRun {
  static constexpr int kWords = kJpegRunBytes / 4;
  uint32_t words[kWords] = {};
  uint32_t kept = 0, markers = 0;      // what belongs to the scan; the first bytes of restart markers
  bool ended = false, damaged = false;

  // Bytes that remain, from bit 15 on markers, in bit 31 whether the scan ended: sums hold for a whole piece.
  PS_FN uint32_t sum() const {
    return uint32_t(count_ones(kept)) | uint32_t(count_ones(markers)) << 15 | uint32_t(ended) << 31;
  }
};
struct JoinRuns {
  PS_FN uint32_t operator()(uint32_t a, uint32_t b) const { return a >> 31 ? a : a + b; }
};

struct alignas(16) JpegWords {
  uint32_t words[4];
};

PS_FN uint32_t lowest_bits(int n) { return n < 32 ? (1u << n) - 1 : ~0u; }

// Which bytes are FF.
PS_FN uint32_t find_ff(const uint32_t (&words)[JpegRun::kWords]) {
  uint32_t found = 0;
  PS_UNROLL for (int i = JpegRun::kWords - 1; i >= 0; i--) {
    const uint32_t sevens = (~words[i] & 0x7F7F7F7F) + 0x7F7F7F7F;       // no byte carries into the next one
    const uint32_t signs = ~sevens & words[i] & 0x80808080;
    found = shift_pair(signs * 0x00204081, found, 28);                   // the four signs move to the uppermost bits
  }
  return found;
}

// The bytes from `begin` on. Behind the file's end there is a marker, as there should be before it.
PS_FN JpegRun jpeg_run(const JpegPicture& p, uint32_t begin) {
  JpegRun run;
  const uint8_t* file = p.file;
  const uint32_t scan = p.scan, end = p.end;
  const int skipped = begin < scan ? int(min(scan - begin, 32u)) : 0;
  const int there = begin < end ? int(min(end - begin, 32u)) : 0;
  PS_UNROLL for (int i = 0; i < kJpegRunBytes; i += 16) {
    if (i >= there) continue;
    const JpegWords some = *reinterpret_cast<const JpegWords*>(file + begin + i);
    PS_UNROLL for (int k = 0; k < 4; k++) run.words[i / 4 + k] = some.words[k];
  }
  const uint32_t before = begin > scan && there && file[begin - 1] == 0xFF;
  const uint32_t valid = lowest_bits(there) & ~lowest_bits(skipped);
  const uint32_t ff = find_ff(run.words) & valid, second = ff << 1 | before;
  run.kept = valid & ~(second & ~ff);
  run.ended = there < kJpegRunBytes;
  for (uint32_t left = ff; left; left &= left - 1) {
    const int i = lowest_one(left);
    const uint32_t behind = begin + uint32_t(i) + 1;
    const int next = behind < end ? file[behind] : 0xD9;
    if (next == 0) {                   // a byte FF, unless it is a fill byte that comes before
      run.damaged |= second >> i & 1;
      continue;
    }
    run.kept &= ~(1u << i);
    if (next == 0xFF) continue;
    if (!p.has_restarts || (next & 0xF8) != 0xD0) {
      run.ended = true;
      run.kept &= lowest_bits(i);
      break;
    }
    run.markers |= 1u << i;
  }
  return run;
}
// One of a piece. There may be more threads than it has runs.
PS_FN uint32_t run_begin(const JpegBlock& b, int index) {
  return (b.picture.first_piece + uint32_t(b.index)) * kJpegPieceBytes + uint32_t(index) * kJpegRunBytes;
}
PS_FN JpegRun jpeg_run(const JpegBlock& b, int index) {
  return index < kJpegRuns ? jpeg_run(b.picture, run_begin(b, index)) : JpegRun();
}

// A block for each piece.
PS_FN void jpeg_count(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto* totals = reinterpret_cast<JpegUnstuffMemory*>(memory)->totals;
  const JpegBlock b = jpeg_block(l);
  uint32_t all = 0;
  for (int first = 0; first < kJpegRuns; first += threads()) {
    scan_threads(totals, jpeg_run(b, first + thread()).sum(), JoinRuns());
    all = JoinRuns()(all, totals[threads() - 1]);
    sync();
  }
  if (thread() != 0) return;
  b.picture.piece[b.index] = {all & 0x7FFF, (all >> 15 & 0x3FFF) | (all >> 31 << 31)};
  if (b.index == 0) *b.picture.status = {0, 0, 0, 0};
}

struct JoinPieces {
  PS_FN JpegPiece operator()(const JpegPiece& a, const JpegPiece& b) const {
    if (a.ended()) return a;
    return {a.bytes + b.bytes, a.markers + b.markers};
  }
};

// Of the first n pieces: few, so that one warp is enough. `sum` is shared memory.
PS_FN JpegPiece sum_pieces(const JpegPicture& p, int n, JpegPiece& sum) {
  if (const int t = thread(); t < kLanes) {
    const int each = (n + kLanes - 1) / kLanes;
    const int begin = min(each * t, n), end = min(begin + each, n);
    JpegPiece own{0, 0};
    PS_LOOP for (int i = begin; i < end; i++) own = JoinPieces()(own, p.piece[i]);
    own = scan_lanes(own, JoinPieces());
    if (t == kLanes - 1) sum = own;
  }
  sync();
  return sum;
}

// The bytes of a piece without those between, as words of shared memory. Neighbouring threads write into them where
// one's bytes end and the other's begin, which are zeros before.
struct JpegPacker {
  uint32_t* words;

  // Threads write eight words each, so that they would all meet in few of the memory's banks.
  PS_FN static int slot(int word) { return word + word / 32; }

  // Bytes of a word, the first one as the most significant one.
  PS_FN static uint32_t pack(uint32_t word, uint32_t kept) {
    uint32_t packed = 0;
    int shift = 24;
    PS_UNROLL for (int i = 0; i < 4; i++) {
      if (!(kept >> i & 1)) continue;
      packed |= (word >> 8 * i & 0xFF) << shift;
      shift -= 8;
    }
    return packed;
  }

  PS_FN void put(const JpegRun& run, int at) const {
    const int first = at / 4;
    int word = first;
    uint32_t held = 0, bits = uint32_t(at) % 4 * 8;      // of the word that is being filled
    PS_UNROLL for (int i = 0; i < JpegRun::kWords; i++) {
      const uint32_t kept = run.kept >> 4 * i & 15;
      uint32_t value = pick_bytes(run.words[i], 0, 0x0123), more = 32;
      if (kept != 15) value = pack(run.words[i], kept), more = uint32_t(count_ones(kept)) * 8;
      held |= value >> bits;
      if (bits + more < 32) {
        bits += more;
        continue;
      }
      if (word == first) or_into(words + slot(word), held);
      else words[slot(word)] = held;
      word++;
      held = shift_pair(0, value, bits);
      bits += more - 32;
    }
    if (bits) or_into(words + slot(word), held);
  }
};

// Where segments begin. The marker behind the last one, if there is one, ends the scan whatever its number.
PS_FN void place_segments(const JpegPicture& p, const JpegRun& run, uint32_t begin, uint32_t at, uint32_t segment) {
  for (uint32_t left = run.markers; left && segment < p.segments; left &= left - 1) {
    const int i = lowest_one(left);
    if (segment + 1 < p.segments && (p.file[begin + uint32_t(i) + 1] & 7u) != (segment & 7)) p.status->broken = 1;
    p.segment[++segment] = (at + uint32_t(count_ones(run.kept & lowest_bits(i)))) * 8;
  }
}

// Bytes from `begin` to `end` of the scan. Words that hold other pieces' bytes as well are written byte by byte.
PS_FN void store_words(const JpegPicture& p, const uint32_t* words, uint32_t begin, uint32_t end) {
  uint8_t* data = p.data;
  for (uint32_t i = uint32_t(thread()), at; (at = (begin / 4 + i) * 4) < end; i += uint32_t(threads())) {
    const uint32_t word = words[JpegPacker::slot(int(i))];
    if (at >= begin && end - at >= 4) {
      *reinterpret_cast<uint32_t*>(data + at) = word;
      continue;
    }
    for (uint32_t k = 0; k < 4; k++)
      if (at + k >= begin && at + k < end) data[(at + k) ^ 3] = uint8_t(word >> (24 - 8 * k));
  }
}

// A block for each piece.
PS_FN void jpeg_unstuff(const Launch& l) {
  PS_SHARED_MEMORY(memory);
  auto& m = *reinterpret_cast<JpegUnstuffMemory*>(memory);
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  JpegPiece before = sum_pieces(p, b.index ? b.index : int(p.pieces), m.before);
  if (b.index == 0) {                 // segments whose markers are not found remain empty
    const uint32_t found = before.markers & 0x7FFFFFFF;
    for (uint32_t i = uint32_t(thread()); i <= p.segments; i += uint32_t(threads()))
      if (i == 0 || i > found) p.segment[i] = i ? before.bytes * 8 : 0;
    before = {0, 0};
  }
  if (before.ended()) return;
  constexpr int words = int(sizeof m.words / sizeof m.words[0]);
  for (int i = thread(); i < words; i += threads()) m.words[i] = 0;
  const uint32_t origin = before.bytes / 4 * 4;          // that the first word stands for
  uint32_t all = 0;
  for (int first = 0; first < kJpegRuns; first += threads()) {
    const int index = first + thread();
    const JpegRun run = jpeg_run(b, index);
    scan_threads(m.totals, run.sum(), JoinRuns());       // now the words are zeros, too
    const uint32_t runs = thread() ? JoinRuns()(all, m.totals[thread() - 1]) : all;
    all = JoinRuns()(all, m.totals[threads() - 1]);
    sync();
    if (runs >> 31) continue;
    const uint32_t at = before.bytes + (runs & 0x7FFF);
    if (run.damaged) p.status->broken = 1;
    if (run.kept) JpegPacker{m.words}.put(run, int(at - origin));
    if (run.markers) place_segments(p, run, run_begin(b, index), at, before.markers + (runs >> 15 & 0x3FFF));
  }
  sync();
  store_words(p, m.words, before.bytes, before.bytes + (all & 0x7FFF));
}
#endif

}  // namespace ps::device
