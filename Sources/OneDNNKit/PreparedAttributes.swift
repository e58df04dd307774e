import COneDNN

/// ``Attributes`` as oneDNN takes them, given back with the object.
package final class PreparedAttributes {
    /// A `dnnl_primitive_attr_t`.
    let handle: OpaquePointer
    private let functions: bg_dnnl_functions
    fileprivate let soundness: PostOperationSoundness
    fileprivate let layouts: LayoutSoundness

    init(
        _ attributes: Attributes, for operation: some PrimitiveOperation, on engine: CPUEngine, _ request: String
    ) throws(OneDNNError) {
        functions = engine.functions
        soundness = PostOperationSoundness(attributes.postOperations, for: operation)
        layouts = LayoutSoundness(attributes.postOperations, for: operation)
        var raw: OpaquePointer?
        try check(functions.dnnl_primitive_attr_create(&raw), request)
        handle = try made(raw, request)
        try check(functions.dnnl_primitive_attr_set_scratchpad_mode(handle, dnnl_scratchpad_mode_user), request)
        try setScale(attributes.outputScale, operation, request)
        let points = [(DNNL_ARG_SRC, attributes.sourceZeroPoint), (DNNL_ARG_DST, attributes.destinationZeroPoint)]
        for (argument, point) in points where point != 0 {
            try check(functions.dnnl_primitive_attr_set_zero_points(handle, argument, 1, 0, [point]), request)
        }
        if attributes.operandScales != (1, 1) {
            let (first, second) = attributes.operandScales
            for (argument, scale) in [(DNNL_ARG_SRC_0, first), (DNNL_ARG_SRC_1, second)] {
                try check(functions.dnnl_primitive_attr_set_scales(handle, argument, 1, 0, [scale]), request)
            }
        }
        guard !attributes.postOperations.isEmpty else { return }
        guard soundness.isSupported else { throw OneDNNError(.unimplemented, request) }
        try setPostOperations(attributes.postOperations, request)
    }

    deinit {
        // A failed release has no caller left to tell and leaks at most this one object.
        _ = functions.dnnl_primitive_attr_destroy(handle)
    }

    private func setScale(
        _ scale: Attributes.OutputScale, _ operation: some PrimitiveOperation, _ request: String
    ) throws(OneDNNError) {
        switch scale {
        case .one: break
        case .common(let scale):
            try check(functions.dnnl_primitive_attr_set_output_scales(handle, 1, 0, [scale]), request)
        case .perChannel(let scales):
            let channels = operation is MatrixProduct ? operation.destination.rank - 1 : 1
            guard operation.destination.rank > channels, operation.destination.dimensions[channels] == scales.count
            else { throw OneDNNError(.invalidArguments, request) }
            try check(
                functions.dnnl_primitive_attr_set_output_scales(
                    handle, Int64(scales.count), 1 << Int32(channels), scales), request)
        }
    }

    private func setPostOperations(_ postOperations: [PostOperation], _ request: String) throws(OneDNNError) {
        var raw: OpaquePointer?
        try check(functions.dnnl_post_ops_create(&raw), request)
        let list = try made(raw, request)
        defer { _ = functions.dnnl_post_ops_destroy(list) }
        for operation in postOperations {
            switch operation {
            case .sum(let scale, let zeroPoint):
                try check(
                    functions.dnnl_post_ops_append_sum_v3(list, scale, zeroPoint, dnnl_data_type_undef), request)
            case .elementWise(let function):
                let (algorithm, alpha, beta) = function.raw
                try check(functions.dnnl_post_ops_append_eltwise(list, 1, algorithm, alpha, beta), request)
            case .binary(let function, let operand):
                var operand = operand.raw
                try check(functions.dnnl_post_ops_append_binary(list, function.raw, &operand), request)
            }
        }
        try check(functions.dnnl_primitive_attr_set_post_ops(handle, list), request)
    }
}

extension CPUEngine {
    /// The first sound implementation that oneDNN offers and can compile.
    ///
    /// - Parameters:
    ///   - operation: One of oneDNN's structures of an operation.
    ///   - attributes: What the primitive will be made with.
    /// - Returns: A `dnnl_primitive_desc_t`, which the caller destroys.
    /// - Throws: Above all ``OneDNNError/Code/unimplemented``.
    func primitiveDescription(
        _ operation: UnsafeRawPointer, _ attributes: PreparedAttributes
    ) throws(OneDNNError) -> OpaquePointer {
        var iterator: OpaquePointer?
        try check(
            functions.dnnl_primitive_desc_iterator_create(&iterator, operation, attributes.handle, handle, nil), "")
        defer { _ = functions.dnnl_primitive_desc_iterator_destroy(iterator) }
        while true {
            let description = try made(functions.dnnl_primitive_desc_iterator_fetch(iterator), "")
            let name = try implementationName(description)
            if attributes.soundness.isSound(in: name),
                attributes.layouts.isSound(in: name, { self.descriptor(of: $0, in: description) }),
                compiles(description)
            {
                return description
            }
            _ = functions.dnnl_primitive_desc_destroy(description)
            try check(functions.dnnl_primitive_desc_iterator_next(iterator), "")
        }
    }

    /// Some implementations accept what their code generator then has no room for. What was compiled stays in oneDNN's
    /// cache, so that making the primitive itself costs nothing more.
    private func compiles(_ description: OpaquePointer) -> Bool {
        var trial: OpaquePointer?
        guard functions.dnnl_primitive_create(&trial, description) == dnnl_success else { return false }
        _ = functions.dnnl_primitive_destroy(trial)
        return true
    }

    /// How an implementation wants an argument to lie; nil for one that it does not take.
    func descriptor(of argument: Argument, in description: OpaquePointer) -> MemoryDescriptor? {
        guard
            let found = functions.dnnl_primitive_desc_query_md(
                description, dnnl_query_exec_arg_md, argument.index), found.pointee.ndims > 0
        else { return nil }
        return MemoryDescriptor(found.pointee)
    }

    /// What oneDNN calls the implementation.
    func implementationName(_ description: OpaquePointer) throws(OneDNNError) -> String {
        var words: UnsafePointer<CChar>?
        try check(functions.dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &words), "")
        return words.map { String(cString: $0) } ?? ""
    }
}
