"""Exports pictures with OpenCV, which drops metadata and profiles: opencv_export.py CASE OUT FILE..."""

import os
import sys

import cv2

cv2.setNumThreads(1)
case, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]
# The decoder's own reduction, to no less than the size asked for.
size, reduction = (256, cv2.IMREAD_REDUCED_COLOR_8) if case == "thumbnails" else (2048, cv2.IMREAD_REDUCED_COLOR_2)

for path in files:
    stem = os.path.join(out, os.path.splitext(os.path.basename(path))[0])
    image = cv2.imread(path, reduction)
    height, width = image.shape[:2]
    scale = size / max(width, height)
    image = cv2.resize(image, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)
    if case == "webp":
        cv2.imwrite(stem + ".webp", image, [cv2.IMWRITE_WEBP_QUALITY, 80])
    else:
        cv2.imwrite(stem + ".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 85])
