"""Prints the facts of Images/PillowFacts.swift with Pillow: python3 image_facts.py. The picture is the formula below; resize
and crop are those of torchvision's transforms, which call Pillow's resize: the shorter side to the size, the other one
int(size * long / short), the crop around the middle with Python's round."""
import numpy as np
from PIL import Image


def picture(width, height):
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    smooth = x * 3 + y * 2 + c * 40
    rough = ((x // 5 + y // 7 + c) % 2) * 90 + (x * y) % 17 * 3
    return Image.fromarray(((smooth + rough) % 256).astype(np.uint8))


def shorter(image, size, filter):
    width, height = image.size
    if width <= height:
        target = (size, int(size * height / width))
    else:
        target = (int(size * width / height), size)
    return image.resize(target, filter)


def crop(image, size):
    width, height = image.size
    top, left = int(round((height - size) / 2.0)), int(round((width - size) / 2.0))
    return image.crop((left, top, left + size, top + size))


def facts(name, image):
    array = np.asarray(image)
    height, width, _ = array.shape
    print(f"    /// {width} × {height}")
    print(f"    static let {name}: [(x: Int, y: Int, rgb: [Int])] = [")
    places = [(0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)]
    places += [((i * 37 + 5) % width, (i * 53 + 3) % height) for i in range(12)]
    for x, y in places:
        print(f"        ({x}, {y}, {[int(v) for v in array[y, x]]}),")
    print("    ]")


facts("bilinearShrunk", crop(shorter(picture(211, 157), 64, Image.BILINEAR), 56))
facts("bicubicShrunk", crop(shorter(picture(157, 211), 64, Image.BICUBIC), 64))
facts("lanczosShrunk", shorter(picture(211, 157), 50, Image.LANCZOS))
facts("bilinearGrown", crop(shorter(picture(61, 47), 100, Image.BILINEAR), 91))
facts("bicubicGrown", crop(shorter(picture(61, 47), 100, Image.BICUBIC), 91))
facts("bilinearExact", picture(211, 157).resize((40, 90), Image.BILINEAR))
gray = picture(61, 47).convert("L")
print("    static let gray: [(x: Int, y: Int, code: Int)] = [")
for i in range(8):
    x, y = (i * 37 + 5) % 61, (i * 53 + 3) % 47
    print(f"        ({x}, {y}, {gray.getpixel((x, y))}),")
print("    ]")
