package import ChunkedCompute
package import Kernels

/// The kernels compiled ahead of time, on the calling thread.
package final class CPULane: ImageLane {
    let kernels: bg_cpu_kernels
    let chain = CPUChain()
    private let isa: bg_isa
    private let columns = Scratch()
    private let working = Scratch()
    private let result = Scratch()
    private let light = RowWindow()
    private var lightPlan: ResizePlan?
    private var nextLightRow = 0

    /// - Parameter isa: An instruction set this CPU has; nil for the best.
    package init?(isa: bg_isa? = nil) {
        self.isa = isa ?? bg_best_isa()
        guard let table = bg_kernels_for(self.isa) else { return nil }
        kernels = table.pointee
    }

    package var name: String {
        switch isa {
        case BG_ISA_AVX512: "CPU (AVX-512)"
        case BG_ISA_AVX2: "CPU (AVX2)"
        default: "CPU"
        }
    }

    // A band should stay in the second-level cache; float converts every row it is given, so a larger band converts fewer
    // rows twice.
    package func chunkSourceRows(_ arithmetic: ResizeArithmetic) -> Int {
        arithmetic == .float ? 192 : 48
    }

    package func resize(_ plan: ResizePlan, source: RowBand, output: RowBand) throws(LaneError) {
        switch plan.arithmetic {
        case .codes: resizeCodes(plan, source: source, output: output)
        case .light: resizeLight(plan, source: source, output: output)
        case .float: resizeFloat(plan, source: source, output: output)
        }
    }

    private func parameters(
        _ plan: ResizePlan, _ source: RowBand, _ output: RowBand, sourceStride: Int, outputStride: Int
    ) -> bg_resize_params {
        bg_resize_params(
            src_width: Int32(plan.sourceWidth), src_stride: Int32(sourceStride), src_first_row: Int32(source.firstRow),
            dst_width: Int32(plan.width), dst_stride: Int32(outputStride), dst_first_row: Int32(output.firstRow),
            dst_rows: Int32(output.rowCount), v_taps: Int32(plan.vTaps), h_pairs: Int32(plan.hPairs),
            scratch_stride: 0)
    }

    private func columnScratch(_ plan: ResizePlan) -> UnsafeMutablePointer<Int16> {
        columns.elements(Int16.self, (plan.sourceWidth + 2 * plan.hPairs + 8) / 2 * 8 * Int(BG_RESIZE_STRIP))
    }

    private func withTables(_ plan: ResizePlan, _ body: (borrowing bg_resize_tables) -> Void) {
        plan.vStart.withUnsafeBufferPointer { vStart in
            plan.vWeights.withUnsafeBufferPointer { vWeights in
                plan.hStart.withUnsafeBufferPointer { hStart in
                    plan.hWeights.withUnsafeBufferPointer { hWeights in
                        body(
                            bg_resize_tables(
                                v_start: vStart.baseAddress, v_weights: vWeights.baseAddress,
                                h_start: hStart.baseAddress, h_weights: hWeights.baseAddress))
                    }
                }
            }
        }
    }

    private func resizeCodes(_ plan: ResizePlan, source: RowBand, output: RowBand) {
        var p = parameters(
            plan, source, output, sourceStride: source.strideBytes, outputStride: output.strideBytes)
        let scratch = columnScratch(plan)
        withTables(plan) { tables in
            withUnsafePointer(to: tables) { tables in
                kernels.resize_code(
                    source.base.assumingMemoryBound(to: UInt8.self), output.base.assumingMemoryBound(to: UInt8.self),
                    tables, scratch, &p)
            }
        }
    }

    private func resizeLight(_ plan: ResizePlan, source: RowBand, output: RowBand) {
        guard let curves = plan.curves else { preconditionFailure("light needs transfer curves") }
        let light = lightRows(plan, curves, source: source, output: output)
        var p = parameters(
            plan, light, output, sourceStride: light.strideBytes / 2, outputStride: output.strideBytes)
        let scratch = columnScratch(plan)
        withTables(plan) { tables in
            withUnsafePointer(to: tables) { tables in
                kernels.resize_light(
                    light.base.assumingMemoryBound(to: Int16.self), output.base.assumingMemoryBound(to: UInt8.self),
                    tables, scratch, curves.encodeLight, &p)
            }
        }
    }

    /// The rows in linear light that a chunk reads. Rows shared with the chunk before are not decoded again.
    private func lightRows(
        _ plan: ResizePlan, _ curves: TransferCurves, source: RowBand, output: RowBand
    ) -> RowBand {
        let needed = plan.sourceRows(for: output.firstRow..<output.firstRow + output.rowCount)
        let stride = (plan.sourceWidth + 8) * 4
        let isNext = lightPlan === plan && output.firstRow == nextLightRow && needed.count <= light.capacityRows
        if !isNext || needed.lowerBound < light.firstRow || needed.lowerBound > light.endRow {
            light.reset(
                strideBytes: stride * 2, capacityRows: needed.count + plan.vTaps + 8, startRow: needed.lowerBound)
            lightPlan = plan
        }
        nextLightRow = output.firstRow + output.rowCount
        light.discard(before: needed.lowerBound)
        let fresh = max(0, needed.upperBound - light.endRow)
        if fresh > 0 {
            let room = light.room(for: fresh)
            kernels.decode_light(
                source.pointer(row: light.endRow).assumingMemoryBound(to: UInt8.self),
                room.assumingMemoryBound(to: Int16.self), curves.decodeLight, Int32(plan.sourceWidth), Int32(fresh),
                Int32(source.strideBytes), Int32(stride))
            light.appended(fresh)
        }
        return light.band
    }

    private func resizeFloat(_ plan: ResizePlan, source: RowBand, output: RowBand) {
        guard let curves = plan.curves else { preconditionFailure("float needs transfer curves") }
        let needed = neededRows(plan, source: source, output: output)
        let stride = (plan.sourceWidth + 4) * 4
        let light = working.elements(Float.self, stride * needed.rowCount)
        let shared = curves.floatChannels == 1
        kernels.decode_float(
            needed.base.assumingMemoryBound(to: UInt16.self), light, curves.decodeFloat, Int32(plan.sourceWidth),
            Int32(needed.rowCount), Int32(needed.strideBytes / 2), Int32(stride), shared ? 0 : 65536)

        let outputStride = plan.width * 4
        let values = result.elements(Float.self, outputStride * output.rowCount)
        var p = bg_resize_float_params(
            src_width: Int32(plan.sourceWidth), src_stride: Int32(stride), src_first_row: Int32(needed.firstRow),
            dst_width: Int32(plan.width), dst_stride: Int32(outputStride), dst_first_row: Int32(output.firstRow),
            dst_rows: Int32(output.rowCount), v_taps: Int32(plan.vTaps), h_taps: Int32(plan.hTaps), scratch_stride: 0)
        let scratch = columns.elements(Float.self, (plan.sourceWidth + 4) * 4 * Int(BG_FLOAT_STRIP))
        plan.vStart.withUnsafeBufferPointer { vStart in
            plan.vWeightsFloat.withUnsafeBufferPointer { vWeights in
                plan.hStart.withUnsafeBufferPointer { hStart in
                    plan.hWeightsFloat.withUnsafeBufferPointer { hWeights in
                        var tables = bg_resize_float_tables(
                            v_start: vStart.baseAddress, v_weights: vWeights.baseAddress,
                            h_start: hStart.baseAddress, h_weights: hWeights.baseAddress)
                        kernels.resize_float(light, values, &tables, scratch, &p)
                    }
                }
            }
        }
        var e = bg_encode_float_params(
            plan, sourceStride: outputStride, outputStride: output.strideBytes / 2, sharedTable: shared)
        kernels.encode_float(
            values, output.base.assumingMemoryBound(to: UInt16.self), curves.encodeFloat, Int32(output.rowCount), &e)
    }

    private func neededRows(_ plan: ResizePlan, source: RowBand, output: RowBand) -> RowBand {
        let range = plan.sourceRows(for: output.firstRow..<output.firstRow + output.rowCount)
        return source.rows(range.lowerBound, count: range.count)
    }

    package func sharpen(_ plan: SharpenPlan, source: RowBand, output: RowBand) throws(LaneError) {
        let rows = Int(BG_SHARPEN_STRIP) + 2 * plan.radius + 2
        let scratch = columns.elements(Int16.self, rows * plan.lumaStride + 32)
        var p = bg_sharpen_params(plan, source: source, output: output, lumaStride: plan.lumaStride)
        kernels.sharpen(
            source.base.assumingMemoryBound(to: UInt8.self), output.base.assumingMemoryBound(to: UInt8.self),
            plan.weights, scratch, &p)
    }
}

extension bg_sharpen_params {
    init(_ plan: SharpenPlan, source: RowBand, output: RowBand, lumaStride: Int) {
        self.init(
            width: Int32(plan.width), height: Int32(plan.height), src_first_row: Int32(source.firstRow),
            src_stride: Int32(source.strideBytes), dst_first_row: Int32(output.firstRow),
            dst_rows: Int32(output.rowCount), dst_stride: Int32(output.strideBytes), radius: Int32(plan.radius),
            amount: plan.amount, luma_stride: Int32(lumaStride), scratch_stride: 0)
    }
}

extension bg_encode_float_params {
    /// Strides count floats in the source and 16-bit samples in the output.
    init(_ plan: ResizePlan, sourceStride: Int, outputStride: Int, sharedTable: Bool) {
        self.init(
            width: Int32(plan.width), src_stride: Int32(sourceStride), dst_stride: Int32(outputStride),
            encode_stride: sharedTable ? 0 : 65538, has_matte: plan.matte == nil ? 0 : 1,
            matte: plan.matte.map { ($0[0], $0[1], $0[2]) } ?? (0, 0, 0))
    }
}
