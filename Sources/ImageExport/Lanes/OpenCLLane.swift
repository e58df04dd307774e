package import ChunkedCompute
import Kernels
package import OpenCLKit

/// The kernels on one OpenCL device, through one queue.
package final class OpenCLLane: ImageLane {
    /// Which of the two forms of each kernel runs; both give the same bytes, but for float within a level of 65535.
    package enum Form: Sendable {
        /// A work-item makes a strip of rows: fast where a work-item is a CPU thread.
        case strips
        /// A work-item makes one pixel.
        case pixels
    }

    private let context: Context
    private let queue: CommandQueue
    private let program: Program
    package let form: Form
    private var kernels: [String: Kernel] = [:]
    private var buffers: [Slot: Buffer] = [:]
    private var tables: [ObjectIdentifier: PlanTables] = [:]
    var chainTables: [ObjectIdentifier: ChainTables] = [:]

    enum Slot: Hashable {
        case source, light, columns, result, output
        /// Rows of a chain: those of even and of odd levels.
        case even, odd
        case slopes, means
        case estimate, ratio, share
        /// Rows of the upright picture, before and after a denoising.
        case turned, made
    }

    /// Device copies of a plan's tables; holds the plan so that its identity stays its own.
    private struct PlanTables {
        let plan: AnyObject
        let vStart: Buffer
        let vWeights: Buffer
        let hStart: Buffer
        let hWeights: Buffer
        var decode: Buffer?
        var encode: Buffer?
    }

    /// - Parameters:
    ///   - device: Any device with a compiler.
    ///   - form: nil chooses by the device's type.
    ///   - cache: Where the compiled program is kept.
    /// - Throws: When the device has no room or does not take the kernels.
    package init(device: Device, form: Form? = nil, cache: ProgramCache) throws(LaneError) {
        self.form = form ?? (device.info.type == .cpu ? .strips : .pixels)
        do {
            context = try Context(device: device)
            queue = try CommandQueue(context: context)
            var length = 0
            let source = String(cString: bg_image_kernels_source(&length))
            program = try cache.program(
                source: source, options: "-cl-std=CL1.2\(self.form == .pixels ? " -DPIXELS_FORM" : "")", in: context)
        } catch {
            throw LaneError("\(error)")
        }
    }

    /// Keeps the compiled program for later processes; slow on some drivers, so called when there is nothing else to do.
    package func storeProgram(in cache: ProgramCache) {
        cache.store(program)
    }

    package var name: String { context.device.info.name }

    package func chunkSourceRows(_ arithmetic: ResizeArithmetic) -> Int {
        form == .strips ? 512 : 2048
    }

    package func resize(_ plan: ResizePlan, source: RowBand, output: RowBand) throws(LaneError) {
        do {
            switch plan.arithmetic {
            case .codes, .light: try resizeInteger(plan, source: source, output: output)
            case .float: try resizeFloat(plan, source: source, output: output)
            }
        } catch {
            throw LaneError("\(error)")
        }
    }

    private func resizeInteger(_ plan: ResizePlan, source: RowBand, output: RowBand) throws(OpenCLError) {
        let tables = try tables(for: plan)
        let needed = plan.sourceRows(for: output.firstRow..<output.firstRow + output.rowCount)
        let rows = source.rows(needed.lowerBound, count: needed.count)
        let outputStride = plan.width * 4
        let isLight = plan.arithmetic == .light
        var samples = try upload(rows)
        var stride = rows.strideBytes
        if isLight {
            stride = (plan.sourceWidth + 8) * 4
            let light = try buffer(.light, bytes: stride * 2 * (rows.rowCount + 1))
            guard let decode = tables.decode else { preconditionFailure("light needs transfer curves") }
            let size = form == .strips ? (x: rows.rowCount, y: 1) : (x: plan.sourceWidth, y: rows.rowCount)
            try run(
                form == .strips ? "decode_light_row" : "decode_light_pixel", size,
                [
                    .buffer(samples), .buffer(light), .buffer(decode), .int(plan.sourceWidth), .int(rows.strideBytes),
                    .int(stride),
                ])
            samples = light
        }
        let result = try buffer(.output, bytes: outputStride * output.rowCount)
        let strip = Int(BG_RESIZE_STRIP)
        let stripShorts = (plan.sourceWidth + 2 * plan.hPairs + 8) / 2 * 8 * strip
        let parameters = bg_resize_params(
            src_width: Int32(plan.sourceWidth), src_stride: Int32(stride), src_first_row: Int32(rows.firstRow),
            dst_width: Int32(plan.width), dst_stride: Int32(outputStride), dst_first_row: Int32(output.firstRow),
            dst_rows: Int32(output.rowCount), v_taps: Int32(plan.vTaps), h_pairs: Int32(plan.hPairs),
            scratch_stride: Int32(stripShorts))
        let encode: [Argument] = isLight ? tables.encode.map { [.buffer($0)] } ?? [] : []
        let kind = isLight ? "light" : "code"
        switch form {
        case .strips:
            let strips = (output.rowCount + strip - 1) / strip
            let columns = try buffer(.columns, bytes: strips * stripShorts * 2)
            try run(
                "resize_\(kind)_strip", (strips, 1),
                [
                    .buffer(samples), .buffer(result), .buffer(tables.vStart), .buffer(tables.vWeights),
                    .buffer(tables.hStart), .buffer(tables.hWeights), .buffer(columns),
                ] + encode + [.resize(parameters)])
        case .pixels:
            let columns = try buffer(.columns, bytes: output.rowCount * (plan.sourceWidth + 8) * 8)
            try run(
                "resize_\(kind)_rows", (plan.sourceWidth, output.rowCount),
                [
                    .buffer(samples), .buffer(columns), .buffer(tables.vStart), .buffer(tables.vWeights),
                    .resize(parameters),
                ])
            try run(
                "resize_\(kind)_columns", (plan.width, output.rowCount),
                [.buffer(columns), .buffer(result), .buffer(tables.hStart), .buffer(tables.hWeights)] + encode
                    + [.resize(parameters)])
        }
        try download(result, into: output, rowBytes: outputStride)
    }

    private func resizeFloat(_ plan: ResizePlan, source: RowBand, output: RowBand) throws(OpenCLError) {
        let tables = try tables(for: plan)
        guard let decode = tables.decode, let encode = tables.encode, let curves = plan.curves else {
            preconditionFailure("float needs transfer curves")
        }
        let needed = plan.sourceRows(for: output.firstRow..<output.firstRow + output.rowCount)
        let rows = source.rows(needed.lowerBound, count: needed.count)
        let stride = (plan.sourceWidth + 4) * 4
        let outputStride = plan.width * 4
        let shared = curves.floatChannels == 1
        let codes = try upload(rows)
        let light = try buffer(.light, bytes: stride * 4 * rows.rowCount)
        let strips = form == .strips
        try run(
            strips ? "decode_float_row" : "decode_float_pixels",
            strips ? (rows.rowCount, 1) : (plan.sourceWidth, rows.rowCount),
            [
                .buffer(codes), .buffer(light), .buffer(decode), .int(plan.sourceWidth), .int(rows.strideBytes / 2),
                .int(stride), .int(shared ? 0 : 65536),
            ])
        let values = try buffer(.result, bytes: outputStride * 4 * output.rowCount)
        let strip = Int(BG_FLOAT_STRIP)
        let stripFloats = (plan.sourceWidth + 4) * 4 * strip
        let parameters = bg_resize_float_params(
            src_width: Int32(plan.sourceWidth), src_stride: Int32(stride), src_first_row: Int32(rows.firstRow),
            dst_width: Int32(plan.width), dst_stride: Int32(outputStride), dst_first_row: Int32(output.firstRow),
            dst_rows: Int32(output.rowCount), v_taps: Int32(plan.vTaps), h_taps: Int32(plan.hTaps),
            scratch_stride: Int32(stripFloats))
        if strips {
            let count = (output.rowCount + strip - 1) / strip
            let columns = try buffer(.columns, bytes: count * stripFloats * 4)
            try run(
                "resize_float_strip", (count, 1),
                [
                    .buffer(light), .buffer(values), .buffer(tables.vStart), .buffer(tables.vWeights),
                    .buffer(tables.hStart), .buffer(tables.hWeights), .buffer(columns), .resizeFloat(parameters),
                ])
        } else {
            let columns = try buffer(.columns, bytes: output.rowCount * (plan.sourceWidth + 4) * 16)
            try run(
                "resize_float_rows", (plan.sourceWidth, output.rowCount),
                [
                    .buffer(light), .buffer(columns), .buffer(tables.vStart), .buffer(tables.vWeights),
                    .resizeFloat(parameters),
                ])
            try run(
                "resize_float_columns", (plan.width, output.rowCount),
                [
                    .buffer(columns), .buffer(values), .buffer(tables.hStart), .buffer(tables.hWeights),
                    .resizeFloat(parameters),
                ])
        }
        let result = try buffer(.output, bytes: outputStride * 2 * output.rowCount)
        let encodeParameters = bg_encode_float_params(
            plan, sourceStride: outputStride, outputStride: outputStride, sharedTable: shared)
        try run(
            strips ? "encode_float_row" : "encode_float_pixels",
            strips ? (output.rowCount, 1) : (plan.width, output.rowCount),
            [.buffer(values), .buffer(result), .buffer(encode), .encodeFloat(encodeParameters)])
        try download(result, into: output, rowBytes: outputStride * 2)
    }

    package func sharpen(_ plan: SharpenPlan, source: RowBand, output: RowBand) throws(LaneError) {
        do {
            try sharpenRows(plan, source: source, output: output)
        } catch {
            throw LaneError("\(error)")
        }
    }

    private func sharpenRows(_ plan: SharpenPlan, source: RowBand, output: RowBand) throws(OpenCLError) {
        let outputStride = plan.width * 4
        let pixels = try upload(source)
        let result = try buffer(.output, bytes: outputStride * output.rowCount)
        let weights = try table(plan.weights)
        var parameters = bg_sharpen_params(plan, source: source, output: output, lumaStride: plan.lumaStride)
        parameters.dst_stride = Int32(outputStride)
        switch form {
        case .strips:
            let strip = Int(BG_SHARPEN_STRIP)
            let strips = (output.rowCount + strip - 1) / strip
            let stripShorts = (strip + 2 * plan.radius + 2) * plan.lumaStride + 32
            parameters.scratch_stride = Int32(stripShorts)
            let scratch = try buffer(.columns, bytes: strips * stripShorts * 2)
            try run(
                "sharpen_strip", (strips, 1),
                [.buffer(pixels), .buffer(result), .buffer(weights), .buffer(scratch), .sharpen(parameters)])
        case .pixels:
            let luma = try buffer(.light, bytes: output.rowCount * plan.lumaStride * 2)
            let blurred = try buffer(.columns, bytes: output.rowCount * plan.lumaStride * 2)
            try run(
                "sharpen_luma_rows", (plan.width, output.rowCount),
                [.buffer(pixels), .buffer(luma), .buffer(blurred), .buffer(weights), .sharpen(parameters)])
            try run(
                "sharpen_apply", (plan.width, output.rowCount),
                [
                    .buffer(pixels), .buffer(result), .buffer(luma), .buffer(blurred), .buffer(weights),
                    .sharpen(parameters),
                ])
        }
        try download(result, into: output, rowBytes: outputStride)
    }

    // MARK: Buffers and launches

    enum Argument {
        case buffer(Buffer)
        case int(Int)
        case resize(bg_resize_params)
        case resizeFloat(bg_resize_float_params)
        case encodeFloat(bg_encode_float_params)
        case sharpen(bg_sharpen_params)
        case rows(bg_chain_rows)
        case points(bg_point_params)
        case contrast(bg_contrast_params)
        case deconvolve(bg_deconvolve_params)
        case grain(bg_grain_params)
        case rotate(bg_rotate_params)
        case turn(bg_turn_params)
    }

    func run(_ name: String, _ size: (x: Int, y: Int), _ arguments: [Argument]) throws(OpenCLError) {
        let kernel = try kernel(name, arguments)
        if form == .strips {
            try queue.enqueue(kernel, global: size.x, local: 1)
        } else {
            try queue.enqueue(kernel, global: size, local: (Int(BG_WORK_GROUP), 1))
        }
    }

    /// Runs a kernel whose work-items are numbered in one row.
    func run(_ name: String, count: Int, group: Int = 1, _ arguments: [Argument]) throws(OpenCLError) {
        try queue.enqueue(try kernel(name, arguments), global: count, local: group)
    }

    private func kernel(_ name: String, _ arguments: [Argument]) throws(OpenCLError) -> Kernel {
        let kernel: Kernel
        if let known = kernels[name] {
            kernel = known
        } else {
            kernel = try Kernel(name, in: program)
            kernels[name] = kernel
        }
        for (index, argument) in arguments.enumerated() {
            switch argument {
            case .buffer(let buffer): try kernel.setArgument(index, buffer)
            case .int(let value): try kernel.setArgument(index, value: Int32(value))
            case .resize(let value): try kernel.setArgument(index, value: value)
            case .resizeFloat(let value): try kernel.setArgument(index, value: value)
            case .encodeFloat(let value): try kernel.setArgument(index, value: value)
            case .sharpen(let value): try kernel.setArgument(index, value: value)
            case .rows(let value): try kernel.setArgument(index, value: value)
            case .points(let value): try kernel.setArgument(index, value: value)
            case .contrast(let value): try kernel.setArgument(index, value: value)
            case .deconvolve(let value): try kernel.setArgument(index, value: value)
            case .grain(let value): try kernel.setArgument(index, value: value)
            case .rotate(let value): try kernel.setArgument(index, value: value)
            case .turn(let value): try kernel.setArgument(index, value: value)
            }
        }
        return kernel
    }

    func buffer(_ slot: Slot, bytes: Int) throws(OpenCLError) -> Buffer {
        if let known = buffers[slot], known.byteCount >= bytes + Scratch.slackBytes { return known }
        buffers[slot] = nil
        let made = try Buffer(byteCount: bytes + Scratch.slackBytes, in: context)
        buffers[slot] = made
        return made
    }

    /// The rows, and room for the one behind them.
    func upload(_ rows: RowBand) throws(OpenCLError) -> Buffer {
        let count = rows.strideBytes * rows.rowCount
        let buffer = try buffer(.source, bytes: count + rows.strideBytes)
        try queue.write(UnsafeRawBufferPointer(start: rows.base, count: count), to: buffer)
        return buffer
    }

    func download(_ buffer: Buffer, into band: RowBand, rowBytes: Int) throws(OpenCLError) {
        precondition(band.strideBytes == rowBytes, "output rows lie one behind the other")
        try queue.read(
            into: UnsafeMutableRawBufferPointer(start: band.base, count: rowBytes * band.rowCount), from: buffer)
    }

    func table<Element: BitwiseCopyable>(_ elements: [Element]) throws(OpenCLError) -> Buffer {
        let buffer = try Buffer(byteCount: elements.count * MemoryLayout<Element>.stride, in: context)
        try queue.write(elements, to: buffer)
        return buffer
    }

    private func tables(for plan: ResizePlan) throws(OpenCLError) -> PlanTables {
        if let known = tables[ObjectIdentifier(plan)] { return known }
        // Plans are made per picture; older ones are not coming back.
        if tables.count >= 8 { tables.removeAll() }
        let isFloat = plan.arithmetic == .float
        let made = PlanTables(
            plan: plan, vStart: try table(plan.vStart),
            vWeights: isFloat ? try table(plan.vWeightsFloat) : try table(plan.vWeights),
            hStart: try table(plan.hStart),
            hWeights: isFloat ? try table(plan.hWeightsFloat) : try table(plan.hWeights),
            decode: try plan.curves.map { curves throws(OpenCLError) in
                isFloat ? try table(curves.decodeFloat) : try table(curves.decodeLight)
            },
            encode: try plan.curves.map { curves throws(OpenCLError) in
                isFloat ? try table(curves.encodeFloat) : try table(curves.encodeLight)
            })
        tables[ObjectIdentifier(plan)] = made
        return made
    }
}
