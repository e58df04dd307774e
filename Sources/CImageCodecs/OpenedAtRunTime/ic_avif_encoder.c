#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ic_avif.h"

static ic_status fail(avifResult result, const char *reason, ic_error *error) {
    return ic_fail(error, result == AVIF_RESULT_OUT_OF_MEMORY ? IC_OUT_OF_MEMORY : IC_ENCODE, "AVIF: %s", reason);
}

static avifImage *planes(
    const ic_avif_table *avif, const ic_picture_settings *settings, const uint8_t *rows, ic_error *error) {
    avifPixelFormat format = settings->is_gray ? AVIF_PIXEL_FORMAT_YUV400
                             : settings->full_chroma || settings->lossless ? AVIF_PIXEL_FORMAT_YUV444
                                                                           : AVIF_PIXEL_FORMAT_YUV420;
    avifImage *image =
        avif->avifImageCreate((uint32_t)settings->width, (uint32_t)settings->height, (uint32_t)settings->bits, format);
    if (!image) {
        ic_fail(error, IC_OUT_OF_MEMORY, "No memory for an AVIF picture");
        return NULL;
    }
    image->yuvRange = AVIF_RANGE_FULL;
    image->colorPrimaries = (avifColorPrimaries)settings->primaries;
    image->transferCharacteristics =
        settings->primaries == 2 ? AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED : AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    // Only without a change of basis do the samples come back as they were.
    image->matrixCoefficients = settings->lossless && !settings->is_gray ? AVIF_MATRIX_COEFFICIENTS_IDENTITY
                                                                         : AVIF_MATRIX_COEFFICIENTS_BT601;
    if (settings->icc_size) avif->avifImageSetProfileICC(image, settings->icc, settings->icc_size);
    if (settings->xmp_size) avif->avifImageSetMetadataXMP(image, settings->xmp, settings->xmp_size);
    if (settings->exif_size) {
        avif->avifImageSetMetadataExif(image, settings->exif, settings->exif_size);
        // It took the orientation from there, which says upright.
        image->transformFlags = AVIF_TRANSFORM_NONE;
    }
    avifRGBImage rgb;
    avif->avifRGBImageSetDefaults(&rgb, image);
    rgb.format = AVIF_RGB_FORMAT_RGBA;
    rgb.depth = settings->is_wide ? 16 : 8;
    rgb.ignoreAlpha = !settings->has_alpha;
    rgb.pixels = (uint8_t *)(uintptr_t)rows;
    rgb.rowBytes = (uint32_t)settings->width * (settings->is_wide ? 8 : 4);
    avifResult result = avif->avifImageRGBToYUV(image, &rgb);
    if (result == AVIF_RESULT_OK) return image;
    fail(result, avif->avifResultToString(result), error);
    avif->avifImageDestroy(image);
    return NULL;
}

ic_status ic_avif_encode(
    const ic_picture_settings *settings, const uint8_t *rows, uint8_t **bytes, size_t *size, ic_error *error) {
    const ic_avif_table *avif = ic_avif(error);
    if (!avif) return error->status;
    avifImage *image = planes(avif, settings, rows, error);
    if (!image) return error->status;
    avifEncoder *encoder = avif->avifEncoderCreate();
    if (!encoder) {
        avif->avifImageDestroy(image);
        return ic_fail(error, IC_OUT_OF_MEMORY, "No memory for an AVIF encoder");
    }
    encoder->maxThreads = settings->threads;
    encoder->tileColsLog2 = settings->tile_columns_log2;
    // The library turns it on with more than one thread, and then the file is another one.
    avif->avifEncoderSetCodecSpecificOption(encoder, "row-mt", "0");
    encoder->speed = settings->speed;
    encoder->minQuantizer = 0;
    encoder->maxQuantizer = settings->lossless ? 0 : 63;
    encoder->minQuantizerAlpha = 0;
    encoder->maxQuantizerAlpha = 0;
    if (!settings->lossless) {
        char level[4];
        snprintf(level, sizeof level, "%d", (int)settings->quantizer & 63);
        // Constant quality, which is aom's name for what every other format calls quality.
        avif->avifEncoderSetCodecSpecificOption(encoder, "end-usage", "q");
        avif->avifEncoderSetCodecSpecificOption(encoder, "cq-level", level);
        // 2: not while ways to divide and predict a block are compared.
        if (settings->plain_search) avif->avifEncoderSetCodecSpecificOption(encoder, "disable-trellis-quant", "2");
    }
    avifRWData file = AVIF_DATA_EMPTY;
    avifResult result = avif->avifEncoderAddImage(encoder, image, 1, AVIF_ADD_IMAGE_FLAG_SINGLE);
    if (result == AVIF_RESULT_OK) result = avif->avifEncoderFinish(encoder, &file);
    ic_status status = IC_OK;
    if (result != AVIF_RESULT_OK) {
        const char *reason = encoder->diag.error;
        status = fail(result, reason[0] ? reason : avif->avifResultToString(result), error);
    } else {
        *bytes = malloc(file.size);
        *size = file.size;
        if (*bytes) {
            memcpy(*bytes, file.data, file.size);
        } else {
            status = ic_fail(error, IC_OUT_OF_MEMORY, "No memory for an AVIF file");
        }
    }
    avif->avifRWDataFree(&file);
    avif->avifEncoderDestroy(encoder);
    avif->avifImageDestroy(image);
    return status;
}
