#include "video/make_index.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>

#include "video/decoder.h"

namespace ps {
namespace {

constexpr int64_t kMostPackets = int64_t(1) << 27;
constexpr int64_t kLooked = 256;            // bytes at either end of a packet that are compared with the file's
constexpr int64_t kHeaders = 64;            // bytes that a container may have between a packet's place and its data

// Where the packet's bytes lie in the file as they are; -1: not there.
int64_t place_in_file(Input& input, const AVPacket& packet) {
  const int64_t size = packet.size;
  if (packet.pos < 0 || packet.pos > input.bytes() - size) return -1;
  const int64_t head = std::min(size, kLooked);
  std::vector<uint8_t> there(size_t(std::min(head + kHeaders, input.bytes() - packet.pos)));
  input.read_all(packet.pos, there.data(), int64_t(there.size()));
  const auto found = std::search(there.begin(), there.end(), packet.data, packet.data + head);
  if (found == there.end()) return -1;
  const int64_t at = packet.pos + (found - there.begin());
  if (at > input.bytes() - size) return -1;
  if (size > head) {
    const int64_t tail = std::min(size - head, kLooked);
    std::vector<uint8_t> end(static_cast<size_t>(tail));
    input.read_all(at + size - tail, end.data(), tail);
    if (!std::equal(end.begin(), end.end(), packet.data + size - tail)) return -1;
  }
  return at;
}

// Bits from the most significant on.
struct Bits {
  const uint8_t* data;
  int at = 0;
  int next(int n = 1) {
    int value = 0;
    for (; n--; at++) value = value << 1 | (data[at / 8] >> (7 - at % 8) & 1);
    return value;
  }
};

bool shows_vp9_frame(const uint8_t* data) {
  Bits bits{data};
  bits.next(2);
  const int profile = bits.next() | bits.next() << 1;
  if (profile == 3) bits.next();
  if (bits.next()) return true;             // a frame that is there already
  bits.next();                              // its kind
  return bits.next();
}

int quarter_turns(const AVStream& stream) {
  const uint8_t* matrix = nullptr;
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  const AVPacketSideData* data = av_packet_side_data_get(
      stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  if (data && data->size >= 36) matrix = data->data;
#else
  size_t bytes = 0;
  matrix = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
  if (bytes < 36) matrix = nullptr;
#endif
  if (!matrix) return 0;
  const double angle = -av_display_rotation_get(reinterpret_cast<const int32_t*>(matrix));
  if (std::isnan(angle)) return 0;
  return (int(std::lround(angle / 90)) % 4 + 4) % 4;
}

class Maker {
 public:
  Maker(Input& input, int64_t most_pixels) : input_(input), most_pixels_(most_pixels), demuxer_(input, true) {}

  std::vector<int64_t> make() {
    describe();
    list_packets();
    if (!has_time_stamps()) order_by_decoding();
    else order_by_time();
    if (order_.empty()) fail(ErrorKind::decode, "there is no frame in it");
    return packed();
  }

 private:
  const AVCodecParameters& parameters() const { return *demuxer_.stream().codecpar; }

  void describe() {
    const AVStream& s = demuxer_.stream();
    const AVCodecParameters& p = parameters();
    std::memcpy(head_.magic, VideoHead::kMagic, sizeof head_.magic);
    head_.file_bytes = input_.bytes();
    head_.codec = p.codec_id, head_.codec_tag = int32_t(p.codec_tag);
    head_.profile = p.profile, head_.level = p.level, head_.format = p.format;
    head_.bits = p.bits_per_coded_sample;
    head_.color_range = p.color_range, head_.color_space = p.color_space;
    head_.field_order = p.field_order, head_.delay = p.video_delay;
    head_.ffmpeg = int32_t(avcodec_version());
    head_.stream = s.index;
    head_.width = p.width, head_.height = p.height;
    head_.quarter_turns = quarter_turns(s);
    head_.time_num = s.time_base.num, head_.time_den = s.time_base.den;
    const AVRational rate = s.avg_frame_rate.num ? s.avg_frame_rate : s.r_frame_rate;
    head_.rate_num = rate.num, head_.rate_den = rate.den;
    extradata_.assign(p.extradata, p.extradata + p.extradata_size);
    if (p.codec_id == AV_CODEC_ID_NONE) fail(ErrorKind::decode, "its header is broken: no codec has the name in it");
    if (!avcodec_find_decoder(p.codec_id))
      fail(ErrorKind::unsupported, std::string("this FFmpeg does not decode ") + avcodec_get_name(p.codec_id));
    if (head_.width <= 0 || head_.height <= 0) fail(ErrorKind::decode, "its header is broken: it tells no size");
    if (int64_t(head_.width) * head_.height > most_pixels_)
      fail(ErrorKind::decode, "its frames have " + std::to_string(head_.width) + " x " +
           std::to_string(head_.height) + " pixels, more than PENSTOCK_MAX_PIXELS allows (" +
           std::to_string(most_pixels_) + ")");
    if (head_.time_num <= 0 || head_.time_den <= 0) fail(ErrorKind::decode, "its header is broken: it tells no time");
  }

  void list_packets() {
    Packet packet(av_packet_alloc());
    check_made(packet);
    head_.is_direct = 1;
    while (demuxer_.next(*packet)) {
      if (packet->flags & AV_PKT_FLAG_CORRUPT) continue;       // the file ends within it
      if (int64_t(packets_.size()) >= kMostPackets) fail(ErrorKind::decode, "it is broken: its packets have no end");
      const bool changes = packet->side_data_elems > 0 &&
          (av_packet_get_side_data(packet.get(), AV_PKT_DATA_NEW_EXTRADATA, nullptr) ||
           av_packet_get_side_data(packet.get(), AV_PKT_DATA_PARAM_CHANGE, nullptr));
      const int64_t offset = head_.is_direct && !changes ? place_in_file(input_, *packet) : -1;
      if (offset < 0) head_.is_direct = 0;
      const bool shown = !(packet->flags & AV_PKT_FLAG_DISCARD) &&
                         is_shown(parameters().codec_id, packet->data, size_t(packet->size));
      packets_.push_back({offset, packet->pts, packet->dts, uint32_t(packet->size) & INT32_MAX,
                          (packet->flags & AV_PKT_FLAG_KEY) != 0, shown ? 0 : -1});
    }
  }

  std::vector<int32_t> shown() const {
    std::vector<int32_t> found;
    for (size_t i = 0; i < packets_.size(); i++)
      if (packets_[i].frame >= 0) found.push_back(int32_t(i));
    return found;
  }

  bool has_time_stamps() const {
    std::vector<int64_t> times;
    for (int32_t p : shown()) {
      if (packets_[size_t(p)].pts == AV_NOPTS_VALUE) return false;
      times.push_back(packets_[size_t(p)].pts);
    }
    std::sort(times.begin(), times.end());
    return std::adjacent_find(times.begin(), times.end()) == times.end();
  }

  void order_by_time() {
    order_ = shown();
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int32_t a, int32_t b) { return packets_[size_t(a)].pts < packets_[size_t(b)].pts; });
    number_frames();
  }

  // A file whose packets do not tell when they are shown has to be decoded for it, once. Time stamps are then those of
  // decoding, in the order of presentation, or else counted.
  void order_by_decoding() {
    const std::vector<int64_t> index = packed();
    Decoder decoder(input_, VideoIndex(index.data()), most_pixels_);
    for (int32_t p : decoder.order())
      if (packets_[size_t(p)].frame == 0) order_.push_back(p), packets_[size_t(p)].frame = 1;
    for (VideoPacket& p : packets_) p.frame = -1;
    number_frames();
    std::vector<int64_t> times;
    for (int32_t p : order_) times.push_back(packets_[size_t(p)].dts);
    std::sort(times.begin(), times.end());
    if (!times.empty() &&
        (times.front() == AV_NOPTS_VALUE || std::adjacent_find(times.begin(), times.end()) != times.end())) {
      const AVRational rate = head_.rate_num > 0 && head_.rate_den > 0 ? AVRational{head_.rate_num, head_.rate_den}
                                                                       : AVRational{25, 1};
      for (size_t i = 0; i < times.size(); i++)
        times[i] = av_rescale_q(int64_t(i), av_inv_q(rate), {head_.time_num, head_.time_den});
    }
    for (size_t i = 0; i < order_.size(); i++) packets_[size_t(order_[i])].pts = times[i];
  }

  void number_frames() {
    for (size_t i = 0; i < order_.size(); i++) packets_[size_t(order_[i])].frame = int32_t(i);
  }

  std::vector<int64_t> packed() {
    head_.extradata_bytes = int64_t(extradata_.size());
    head_.packets = int64_t(packets_.size());
    head_.frames = int64_t(order_.size());
    head_.bytes = VideoIndex::size_of(head_.extradata_bytes, head_.packets, head_.frames);
    std::vector<int64_t> block(size_t(VideoIndex::padded(head_.bytes) / 8));
    auto* to = reinterpret_cast<uint8_t*>(block.data());
    std::memcpy(to, &head_, sizeof head_);
    to += sizeof head_;
    std::copy(extradata_.begin(), extradata_.end(), to);
    to += VideoIndex::padded(head_.extradata_bytes);
    if (!packets_.empty()) std::memcpy(to, packets_.data(), packets_.size() * sizeof(VideoPacket));
    if (!order_.empty()) std::memcpy(to + packets_.size() * sizeof(VideoPacket), order_.data(), order_.size() * 4);
    return block;
  }

  Input& input_;
  int64_t most_pixels_;
  Demuxer demuxer_;
  VideoHead head_{};
  std::vector<uint8_t> extradata_;
  std::vector<VideoPacket> packets_;
  std::vector<int32_t> order_;
};

}  // namespace

bool is_shown(AVCodecID codec, const uint8_t* data, size_t bytes) {
  if (codec == AV_CODEC_ID_VP8) return bytes < 3 || data[0] >> 4 & 1;
  if (codec != AV_CODEC_ID_VP9 || bytes < 3) return true;
  const int marker = data[bytes - 1];                        // of a packet that holds several frames
  if ((marker & 0xe0) == 0xc0) {
    const size_t sizes = size_t((marker >> 3 & 3) + 1), frames = size_t((marker & 7) + 1), all = 2 + sizes * frames;
    if (bytes >= all && data[bytes - all] == marker) return true;
  }
  return shows_vp9_frame(data);
}

std::vector<int64_t> make_video_index(Input& input, int64_t most_pixels) { return Maker(input, most_pixels).make(); }

}  // namespace ps
