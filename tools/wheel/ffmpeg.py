"""What of FFmpeg is built for libpenstock_video.so: what decodes videos, and nothing that is not under the LGPL."""

from __future__ import annotations

_CONTAINERS = (
    *("asf", "av1", "avi", "dv", "flv", "gif", "h263", "h264", "hevc", "ivf", "m4v", "matroska", "mjpeg", "mov"),
    *("mpegps", "mpegts", "mpegtsraw", "mpegvideo", "mxf", "nut", "obu", "ogg", "rm", "vc1", "vc1t", "wtv"),
    *("yuv4mpegpipe", "aac", "flac", "mp3", "wav"),  # of sounds it is said that there is no video in them
)
# Those of files that cameras, phones, sites and data sets have; and those without loss.
_DECODERS = (
    *("h264", "hevc", "vp8", "vp9", "libdav1d", "mpeg1video", "mpeg2video", "mpegvideo", "mpeg4", "mjpeg", "mjpegb"),
    *("h261", "h263", "h263p", "flv", "msmpeg4v1", "msmpeg4v2", "msmpeg4v3", "wmv1", "wmv2", "wmv3", "vc1", "vp3"),
    *("theora", "vp6", "vp6a", "vp6f", "rv30", "rv40", "svq1", "svq3", "cinepak", "indeo3", "dvvideo", "prores"),
    *("dnxhd", "ffv1", "ffvhuff", "huffyuv", "utvideo", "png", "gif", "rawvideo", "qtrle", "msvideo1"),
)
# Of sounds the parsers alone: with them a container's header is read through sooner.
_PARSERS = (
    *("av1", "dnxhd", "gif", "h261", "h263", "h264", "hevc", "mjpeg", "mpeg4video", "mpegvideo", "png", "rv30", "rv40"),
    *("vc1", "vp3", "vp8", "vp9", "aac", "aac_latm", "ac3", "dca", "flac", "mpegaudio", "opus", "vorbis"),
)
_FILTERS = (
    *("av1_frame_merge", "av1_frame_split", "extract_extradata", "h264_mp4toannexb", "hevc_mp4toannexb", "null"),
    *("mpeg4_unpack_bframes", "vp9_superframe", "vp9_superframe_split"),
)
_WITHOUT = ("programs", "doc", "network", "avdevice", "avfilter", "swscale", "swresample", "postproc", "debug")

OPTIONS = (
    "--disable-autodetect",
    "--disable-everything",
    *(f"--disable-{part}" for part in _WITHOUT),
    "--enable-pic",
    "--enable-pthreads",
    "--enable-zlib",
    "--enable-libdav1d",
    f"--enable-demuxer={','.join(_CONTAINERS)}",
    f"--enable-decoder={','.join(_DECODERS)}",
    f"--enable-parser={','.join(_PARSERS)}",
    f"--enable-bsf={','.join(_FILTERS)}",
)
