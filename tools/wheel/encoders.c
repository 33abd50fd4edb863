// In the place of encoders: libsndfile and libtiff would write sounds and pictures by these, and in a wheel they only read.
// What makes an encoder says that it cannot; the rest is not called without one.
#include <stddef.h>
#include <stdlib.h>

void* lame_init(void) { return NULL; }
void* ZSTD_createCStream(void) { return NULL; }
int vorbis_encode_init_vbr(void) { return -130; /* OV_EIMPL */ }
int lame_close(void) { return 0; }
size_t ZSTD_freeCStream(void) { return 0; }
int ZSTD_maxCLevel(void) { return 0; }
int deflateInit_(void) { return -2; /* Z_STREAM_ERROR */ }
int lzma_stream_encoder(void) { return 8; /* LZMA_OPTIONS_ERROR */ }
void* FLAC__stream_encoder_new(void) { return NULL; }
const char* const FLAC__StreamEncoderInitStatusString[1] = {"there is no encoder"};
void* opus_multistream_encoder_create(void) { return NULL; }
void* opus_multistream_surround_encoder_create(void) { return NULL; }

#define NEVER(name) void name(void) { abort(); }
NEVER(ZSTD_compressStream) NEVER(ZSTD_endStream) NEVER(ZSTD_initCStream)
NEVER(id3tag_genre_list) NEVER(id3tag_init) NEVER(id3tag_set_album) NEVER(id3tag_set_artist) NEVER(id3tag_set_comment)
NEVER(id3tag_set_genre) NEVER(id3tag_set_title) NEVER(id3tag_set_track) NEVER(id3tag_set_year)
NEVER(lame_encode_buffer) NEVER(lame_encode_buffer_float) NEVER(lame_encode_buffer_ieee_double)
NEVER(lame_encode_buffer_ieee_float) NEVER(lame_encode_buffer_int) NEVER(lame_encode_buffer_interleaved)
NEVER(lame_encode_buffer_interleaved_ieee_double) NEVER(lame_encode_buffer_interleaved_ieee_float)
NEVER(lame_encode_buffer_interleaved_int) NEVER(lame_encode_flush) NEVER(lame_get_VBR)
NEVER(lame_get_VBR_mean_bitrate_kbps) NEVER(lame_get_VBR_q) NEVER(lame_get_bWriteVbrTag) NEVER(lame_get_brate)
NEVER(lame_get_encoder_delay) NEVER(lame_get_framesize) NEVER(lame_get_id3v1_tag) NEVER(lame_get_id3v2_tag)
NEVER(lame_get_lametag_frame) NEVER(lame_get_mode) NEVER(lame_get_out_samplerate) NEVER(lame_get_version)
NEVER(lame_init_params) NEVER(lame_set_VBR) NEVER(lame_set_VBR_mean_bitrate_kbps) NEVER(lame_set_VBR_quality)
NEVER(lame_set_bWriteVbrTag) NEVER(lame_set_brate) NEVER(lame_set_in_samplerate) NEVER(lame_set_num_channels)
NEVER(lame_set_out_samplerate) NEVER(lame_set_write_id3tag_automatic)
NEVER(FLAC__stream_encoder_delete) NEVER(FLAC__stream_encoder_finish) NEVER(FLAC__stream_encoder_init_stream)
NEVER(FLAC__stream_encoder_process_interleaved) NEVER(FLAC__stream_encoder_set_bits_per_sample)
NEVER(FLAC__stream_encoder_set_channels) NEVER(FLAC__stream_encoder_set_compression_level)
NEVER(FLAC__stream_encoder_set_metadata) NEVER(FLAC__stream_encoder_set_sample_rate)
NEVER(deflate) NEVER(deflateEnd) NEVER(deflateParams) NEVER(deflateReset)
NEVER(jpeg_CreateCompress) NEVER(jpeg_finish_compress) NEVER(jpeg_set_colorspace) NEVER(jpeg_set_defaults)
NEVER(jpeg_set_quality) NEVER(jpeg_start_compress) NEVER(jpeg_suppress_tables) NEVER(jpeg_write_raw_data)
NEVER(jpeg_write_scanlines) NEVER(jpeg_write_tables)
NEVER(opus_multistream_encode_float) NEVER(opus_multistream_encoder_ctl) NEVER(opus_multistream_encoder_destroy)
