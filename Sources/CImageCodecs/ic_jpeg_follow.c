// Several decodings of a JPEG at different scales from one reading of its entropy-coded data.
//
// Most of a decoding's time goes to the Huffman codes, which are the same at every scale. The leader's coefficients are written down as
// they are read; a follower's decoder takes them from there in place of reading them. All that comes after is libjpeg's own, so a
// follower's rows have the bytes of a decoding by itself.

#include <stdlib.h>
#include <string.h>

#include <jerror.h>

#include "ic_internal.h"
#include "ic_jpeg_internal.h"

/// The beginning of libjpeg's object that reads entropy-coded data (struct jpeg_entropy_decoder in its jpegint.h, which is not
/// installed): the same in libjpeg 6b and in every version of libjpeg-turbo.
typedef struct entropy_reader {
    void (*start_pass)(j_decompress_ptr cinfo);
    boolean (*decode_mcu)(j_decompress_ptr cinfo, JBLOCKROW *blocks);
} entropy_reader;

static entropy_reader *reader_of(struct jpeg_decompress_struct *cinfo) { return (entropy_reader *)cinfo->entropy; }

static JBLOCK *blocks_at(const ic_jpeg_leader *leader, size_t unit) {
    return leader->blocks + unit % leader->capacity * leader->blocks_in_unit;
}

/// Units that no follower has taken yet.
static size_t units_kept(const ic_jpeg_leader *leader) {
    size_t most = 0;
    for (int i = 0; i < leader->follower_count; i++) {
        size_t behind = leader->units - leader->followers[i]->following.units;
        if (behind > most) most = behind;
    }
    return most;
}

static int make_room(ic_jpeg_leader *leader) {
    size_t kept = units_kept(leader), unit_bytes = (size_t)leader->blocks_in_unit * sizeof(JBLOCK);
    if (kept < leader->capacity) return 1;
    ic_jpeg_leader larger = *leader;
    larger.capacity = 2 * leader->capacity;
    larger.blocks = malloc(larger.capacity * unit_bytes);
    if (!larger.blocks) return 0;
    for (size_t unit = leader->units - kept; unit < leader->units; unit++) {
        memcpy(blocks_at(&larger, unit), blocks_at(leader, unit), unit_bytes);
    }
    free(leader->blocks);
    *leader = larger;
    return 1;
}

/// Coefficients beyond the first of a block have no part in a sample that stands for a whole block.
static void copy_blocks(JBLOCKROW *to, JBLOCK *const *from, const uint8_t *is_whole, int count) {
    for (int i = 0; i < count; i++) {
        if (is_whole[i]) {
            memcpy(to[i][0], from[i][0], sizeof(JBLOCK));
        } else {
            to[i][0][0] = from[i][0][0];
        }
    }
}

static boolean read_and_keep(j_decompress_ptr cinfo, JBLOCKROW *blocks) {
    ic_jpeg_leader *leader = &((ic_jpeg_decoder *)cinfo->client_data)->leader;
    if (!leader->read_unit(cinfo, blocks)) return FALSE;
    if (leader->follower_count == 0) return TRUE;
    if (!make_room(leader)) ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
    JBLOCK *kept = blocks_at(leader, leader->units);
    JBLOCKROW places[D_MAX_BLOCKS_IN_MCU];
    for (int i = 0; i < leader->blocks_in_unit; i++) places[i] = kept + i;
    copy_blocks(places, blocks, leader->is_whole, leader->blocks_in_unit);
    leader->units++;
    return TRUE;
}

/// FALSE, which makes libjpeg wait, where the leader has not come so far.
static boolean take_kept(j_decompress_ptr cinfo, JBLOCKROW *blocks) {
    ic_jpeg_following *following = &((ic_jpeg_decoder *)cinfo->client_data)->following;
    const ic_jpeg_leader *leader = &following->decoder->leader;
    if (following->units == leader->units) return FALSE;
    JBLOCK *kept = blocks_at(leader, following->units);
    JBLOCKROW places[D_MAX_BLOCKS_IN_MCU];
    for (int i = 0; i < leader->blocks_in_unit; i++) places[i] = kept + i;
    copy_blocks(blocks, places, following->is_whole, leader->blocks_in_unit);
    following->units++;
    return TRUE;
}

/// Which blocks of a unit are more than one sample at a decoder's scale.
static void note_whole_blocks(const struct jpeg_decompress_struct *cinfo, uint8_t *is_whole) {
    for (int i = 0; i < cinfo->blocks_in_MCU; i++) {
        is_whole[i] |= cinfo->cur_comp_info[cinfo->MCU_membership[i]]->DCT_scaled_size > 1;
    }
}

int ic_jpeg_decoder_follow(ic_jpeg_decoder *follower, ic_jpeg_decoder *decoder) {
    struct jpeg_decompress_struct *cinfo = &decoder->cinfo;
    ic_jpeg_leader *leader = &decoder->leader;
    if (leader->follower_count == IC_JPEG_FOLLOWERS || jpeg_has_multiple_scans(cinfo)) return 0;
    if (cinfo->output_scanline > 0 || follower->cinfo.output_scanline > 0) return 0;
    // At an eighth libjpeg passes over all but the first coefficient.
    if (follower->cinfo.min_DCT_scaled_size > cinfo->min_DCT_scaled_size) return 0;
    if (!leader->blocks) {
        leader->blocks_in_unit = cinfo->blocks_in_MCU;
        leader->capacity = 4 * (size_t)cinfo->MCUs_per_row;
        leader->blocks = malloc(leader->capacity * (size_t)leader->blocks_in_unit * sizeof(JBLOCK));
        if (!leader->blocks) return 0;
        leader->read_unit = reader_of(cinfo)->decode_mcu;
        reader_of(cinfo)->decode_mcu = read_and_keep;
    }
    follower->following.decoder = decoder;
    reader_of(&follower->cinfo)->decode_mcu = take_kept;
    note_whole_blocks(&follower->cinfo, follower->following.is_whole);
    note_whole_blocks(&follower->cinfo, leader->is_whole);
    leader->followers[leader->follower_count++] = follower;
    return 1;
}

void ic_jpeg_decoder_unfollow(ic_jpeg_decoder *decoder) {
    free(decoder->leader.blocks);
    if (!decoder->following.decoder) return;
    ic_jpeg_leader *leader = &decoder->following.decoder->leader;
    for (int i = 0; i < leader->follower_count; i++) {
        if (leader->followers[i] == decoder) leader->followers[i--] = leader->followers[--leader->follower_count];
    }
}
