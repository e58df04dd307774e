"""Exports pictures with Pillow or Pillow-SIMD: pillow_export.py CASE OUT SRGB.icc FILE..."""

import io
import os
import sys

from PIL import Image, ImageCms, ImageOps

case, out, profile, files = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
srgb_bytes = open(profile, "rb").read()
srgb = ImageCms.ImageCmsProfile(io.BytesIO(srgb_bytes))
transforms = {}


def to_srgb(image, icc):
    """Converts only where the embedded profile differs."""
    if not icc or icc == srgb_bytes:
        return image
    if icc not in transforms:
        source = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        transforms[icc] = ImageCms.buildTransform(source, srgb, "RGB", "RGB")
    return ImageCms.applyTransform(image, transforms[icc])


def shrunk(path, size):
    image = Image.open(path)
    icc = image.info.get("icc_profile")
    # Lets the decoder shrink by a power of two, to no less than the size.
    scale = size / max(image.size)
    image.draft("RGB", tuple(int(edge * scale) for edge in image.size))
    exif = image.getexif()
    exif[0x0112] = 1
    image = ImageOps.exif_transpose(image)
    image.thumbnail((size, size), Image.LANCZOS)
    return to_srgb(image, icc), exif


for path in files:
    stem = os.path.join(out, os.path.splitext(os.path.basename(path))[0])
    size = 256 if case == "thumbnails" else 2048
    image, exif = shrunk(path, size)
    if case == "webp":
        image.save(stem + ".webp", quality=80, exif=exif, icc_profile=srgb_bytes)
    elif case == "three":
        for size in (2048, 1024, 256):
            copy = image.copy()
            copy.thumbnail((size, size), Image.LANCZOS)
            copy.save(f"{stem}-{size}.jpg", quality=85, exif=exif, icc_profile=srgb_bytes)
    else:
        image.save(stem + ".jpg", quality=85, exif=exif, icc_profile=srgb_bytes)
