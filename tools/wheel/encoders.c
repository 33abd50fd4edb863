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
