"""Denoises, lifts local contrast or sharpens with OpenCV: opencv_operations.py METHOD AMOUNT OUT FILE...

Outputs are JPEGs of quality 100 without chroma subsampling."""

import os
import sys

import cv2
import numpy as np

cv2.setNumThreads(1)
method, amount, out, files = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4:]


def on_luma(image, change):
    ycc = cv2.cvtColor(image, cv2.COLOR_BGR2YCrCb)
    ycc[:, :, 0] = change(ycc[:, :, 0])
    return cv2.cvtColor(ycc, cv2.COLOR_YCrCb2BGR)


def guided_contrast(luma):
    y = luma.astype(np.float32) / 255
    radius = max(luma.shape) // 100
    base = cv2.ximgproc.guidedFilter(y, y, radius, 0.02, scale=0.125)
    return np.clip((y + amount * (y - base)) * 255 + 0.5, 0, 255)


def richardson_lucy(luma):
    y = luma.astype(np.float32) / 255 + 0.01
    estimate = y.copy()
    for _ in range(5):
        estimate *= cv2.GaussianBlur(y / cv2.GaussianBlur(estimate, (5, 5), amount), (5, 5), amount)
    return np.clip((estimate - 0.01) * 255 + 0.5, 0, 255)


# Amounts of the denoisers are the noise's deviation in levels; the factors are the best of those tried on camera-like pictures.
METHODS = {
    "nlm": lambda image: cv2.fastNlMeansDenoisingColored(image, None, 0.7 * amount, 0.7 * amount, 5, 9),
    "bilateral5": lambda image: cv2.bilateralFilter(image, 5, 6 * amount, 2.5),
    "bilateral7": lambda image: cv2.bilateralFilter(image, 7, 6 * amount, 3.5),
    "guided": lambda image: cv2.ximgproc.guidedFilter(image, image, 3, (2 * amount) ** 2),
    "clahe": lambda image: on_luma(image, cv2.createCLAHE(2.0, (8, 8)).apply),
    "guided-contrast": lambda image: on_luma(image, guided_contrast),
    "richardson-lucy": lambda image: on_luma(image, richardson_lucy),
}

for path in files:
    image = METHODS[method](cv2.imread(path))
    flags = [cv2.IMWRITE_JPEG_QUALITY, 100, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    cv2.imwrite(os.path.join(out, os.path.basename(path)), image, flags)
