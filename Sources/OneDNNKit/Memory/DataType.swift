import COneDNN

/// What an element is.
package enum DataType: String, CaseIterable, Hashable, Sendable {
    case float32, bfloat16, int32, int8, uint8

    package var byteCount: Int {
        switch self {
        case .float32, .int32: 4
        case .bfloat16: 2
        case .int8, .uint8: 1
        }
    }

    var raw: dnnl_data_type_t {
        switch self {
        case .float32: dnnl_f32
        case .bfloat16: dnnl_bf16
        case .int32: dnnl_s32
        case .int8: dnnl_s8
        case .uint8: dnnl_u8
        }
    }

    init?(_ raw: dnnl_data_type_t) {
        guard let type = DataType.allCases.first(where: { $0.raw == raw }) else { return nil }
        self = type
    }
}
