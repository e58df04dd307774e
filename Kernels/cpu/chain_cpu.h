// The launchers of a chain's kernels for one instruction set; included by kernels_cpu.h.
_Static_assert(sizeof(chain_rows) == sizeof(bg_chain_rows), "chain_rows");
_Static_assert(sizeof(point_params) == sizeof(bg_point_params), "point_params");
_Static_assert(sizeof(chain_codes) == sizeof(bg_chain_codes), "chain_codes");
_Static_assert(sizeof(contrast_params) == sizeof(bg_contrast_params), "contrast_params");
_Static_assert(sizeof(deconvolve_params) == sizeof(bg_deconvolve_params), "deconvolve_params");
_Static_assert(sizeof(grain_params) == sizeof(bg_grain_params), "grain_params");
_Static_assert(sizeof(rotate_params) == sizeof(bg_rotate_params), "rotate_params");
_Static_assert(sizeof(turn_params) == sizeof(bg_turn_params), "turn_params");
_Static_assert(POINT_TABLE == BG_POINT_TABLE && POINT_HEADER == BG_POINT_HEADER && POINT_STEPS == BG_POINT_STEPS, "points");
_Static_assert(DENOISE_COLUMNS == BG_DENOISE_COLUMNS && DENOISE_ROWS == BG_DENOISE_ROWS &&
                   DENOISE_RADIUS == BG_DENOISE_RADIUS && DENOISE_FILL == BG_DENOISE_FILL && DENOISE_SCRATCH == BG_DENOISE_SCRATCH &&
                   DENOISE_GROUP == BG_DENOISE_GROUP && DENOISE_GROUP_COLUMNS == BG_DENOISE_GROUP_COLUMNS &&
                   DENOISE_GROUP_ROWS == BG_DENOISE_GROUP_ROWS,
               "denoise");
_Static_assert(DECONVOLVE_COLUMNS == BG_DECONVOLVE_COLUMNS && DECONVOLVE_ROWS == BG_DECONVOLVE_ROWS &&
                   DECONVOLVE_RADIUS == BG_DECONVOLVE_RADIUS && DECONVOLVE_STEP == BG_DECONVOLVE_STEP,
               "deconvolve");
_Static_assert(ROTATE_COLUMNS == BG_ROTATE_COLUMNS && ROTATE_STEPS == BG_ROTATE_STEPS, "rotate");
_Static_assert(TURN_ROWS == BG_TURN_ROWS, "turn");

#define RUN_POINTS(NAME, FROM, TO, KERNEL)                                                                              \
    static void NAME(FROM src, TO dst, const float *program, const bg_point_params *points, const bg_chain_rows *rows) { \
        PARAMS(point_params, points);                                                                                   \
        chain_rows r;                                                                                                   \
        memcpy(&r, rows, sizeof r);                                                                                     \
        EACH(r.rows) KERNEL(src, dst, program, q, r);                                                                   \
    }
RUN_POINTS(run_load8, const uint8_t *, float *, points_load8)
RUN_POINTS(run_load16, const uint16_t *, float *, points_load16)
RUN_POINTS(run_store8, const float *, uint8_t *, points_store8)
RUN_POINTS(run_store16, const float *, uint16_t *, points_store16)
RUN_POINTS(run_codes8, const uint8_t *, uint8_t *, points_codes8)
RUN_POINTS(run_codes16, const uint16_t *, uint16_t *, points_codes16)

static void run_points(float *rows, const float *program, const bg_point_params *points, const bg_chain_rows *p) {
    PARAMS(point_params, points);
    chain_rows r;
    memcpy(&r, p, sizeof r);
    EACH(r.rows) points_rows(rows, program, q, r);
}

static void run_grain(float *rows, const bg_grain_params *grain, const bg_chain_rows *p) {
    PARAMS(grain_params, grain);
    chain_rows r;
    memcpy(&r, p, sizeof r);
    EACH(r.rows) grain_rows(rows, q, r);
}

static void run_denoise_fill(float *rows, const bg_chain_rows *p) {
    PARAMS(chain_rows, p);
    EACH(q.rows) denoise_fill(rows, q);
}

static void run_denoise(const float *src, float *dst, const bg_chain_codes *ends, const float *limits, float *scratch,
                        const bg_chain_rows *p, int count) {
    PARAMS(chain_rows, p);
    chain_codes codes;
    memcpy(&codes, ends, sizeof codes);
    EACH(count) denoise_make(src, dst, codes, limits, scratch, q);
}

static void run_deconvolve(const float *src, float *dst, const float *weights, float *scratch,
                           const bg_deconvolve_params *blur, const bg_chain_rows *p, int count) {
    PARAMS(deconvolve_params, blur);
    chain_rows r;
    memcpy(&r, p, sizeof r);
    EACH(count) deconvolve_tile(src, dst, weights, scratch, q, r);
}

static void run_contrast_cells(const float *src, const bg_chain_codes *ends, float *cells, float *line,
                               const bg_contrast_params *contrast, const bg_chain_rows *p, int count) {
    PARAMS(contrast_params, contrast);
    chain_rows r;
    memcpy(&r, p, sizeof r);
    chain_codes codes;
    memcpy(&codes, ends, sizeof codes);
    EACH(count) contrast_sums(src, codes, cells, line, q, r);
}

static void run_contrast_slopes(const float *cells, float *slopes, float *line, const bg_contrast_params *contrast,
                                const bg_chain_rows *p, int count) {
    PARAMS(contrast_params, contrast);
    chain_rows r;
    memcpy(&r, p, sizeof r);
    EACH(count) contrast_slopes(cells, slopes, line, q, r);
}

static void run_contrast_means(const float *slopes, float *means, float *line, const bg_contrast_params *contrast,
                               int count) {
    PARAMS(contrast_params, contrast);
    EACH(count) contrast_means(slopes, means, line, q);
}

static void run_contrast_apply(const float *src, float *dst, const bg_chain_codes *ends, const float *means, float *line,
                               const bg_contrast_params *contrast, const bg_chain_rows *p) {
    PARAMS(contrast_params, contrast);
    chain_rows r;
    memcpy(&r, p, sizeof r);
    chain_codes codes;
    memcpy(&codes, ends, sizeof codes);
    EACH(r.rows) contrast_make(src, dst, codes, means, line, q, r);
}

static void run_rotate(const float *src, float *dst, const float *weights, const bg_rotate_params *angle,
                       const bg_chain_rows *p, int count) {
    PARAMS(rotate_params, angle);
    chain_rows r;
    memcpy(&r, p, sizeof r);
    EACH(count) rotate_part(src, dst, weights, q, r);
}

static void run_turn(const float *src, float *dst, const bg_turn_params *p) {
    PARAMS(turn_params, p);
    EACH((p->rows + TURN_ROWS - 1) / TURN_ROWS) turn_rows(src, dst, q);
}

#define CHAIN_KERNELS                                                                                                   \
    {                                                                                                                   \
        run_load8, run_load16, run_store8, run_store16, run_codes8, run_codes16, run_points, run_grain,                 \
            run_denoise_fill, run_denoise, run_deconvolve, run_contrast_cells, run_contrast_slopes, run_contrast_means, \
            run_contrast_apply, run_rotate, run_turn,                                                                   \
    }
