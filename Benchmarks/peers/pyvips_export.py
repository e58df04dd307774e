"""Exports pictures with libvips through pyvips: pyvips_export.py CASE OUT FILE..."""

import os
import sys

import pyvips

case, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]


def thumbnail(path, size, **options):
    return pyvips.Image.thumbnail(path, size, height=size, size="down", output_profile="srgb", **options)


def opened(path):
    """Upright and sequential, like the thumbnails."""
    return pyvips.Image.new_from_file(path, access="sequential")


def sharpened_separable(image):
    """Unsharp mask of amount 0.8, sigma 1, on all bands: separable integer blur and point arithmetic."""
    blur = image.gaussblur(1.0, min_ampl=0.01, precision="integer")
    return (image * 1.8 - blur * 0.8).cast("uchar")


def sharpened_luma(image):
    """The same on luma alone, its difference added to all bands."""
    luma = image.recomb(pyvips.Image.new_from_array([[0.299, 0.587, 0.114]])).cast("uchar")
    detail = (luma.cast("short") - luma.gaussblur(1.0, min_ampl=0.01, precision="integer")) * 0.8
    return (image + detail).cast("uchar")


SHARPEN = {"sharpen-separable": sharpened_separable, "sharpen-luma": sharpened_luma}

for path in files:
    stem = os.path.join(out, os.path.splitext(os.path.basename(path))[0])
    if case == "web":
        thumbnail(path, 2048).jpegsave(stem + ".jpg", Q=85)
    elif case == "linear":
        thumbnail(path, 2048, linear=True).jpegsave(stem + ".jpg", Q=85)
    elif case == "thumbnails":
        thumbnail(path, 256).jpegsave(stem + ".jpg", Q=85)
    elif case == "webp":
        thumbnail(path, 2048).webpsave(stem + ".webp", Q=80)
    elif case == "avif":
        thumbnail(path, 2048).heifsave(stem + ".avif", Q=60, compression="av1", effort=1)
    elif case == "jxl":
        thumbnail(path, 2048).jxlsave(stem + ".jxl", Q=85, effort=3)
    elif case == "three":
        for size in (2048, 1024, 256):
            thumbnail(path, size).jpegsave(f"{stem}-{size}.jpg", Q=85)
    elif case == "three-cascade":
        # The smaller ones from the largest, which the command-line tool cannot do.
        large = thumbnail(path, 2048).copy_memory()
        large.jpegsave(f"{stem}-2048.jpg", Q=85)
        for size in (1024, 256):
            large.thumbnail_image(size, height=size).jpegsave(f"{stem}-{size}.jpg", Q=85)
    elif case in SHARPEN:
        SHARPEN[case](opened(path)).jpegsave(stem + ".jpg", Q=90, subsample_mode="on")
    else:
        sys.exit(f"unknown case {case}")
