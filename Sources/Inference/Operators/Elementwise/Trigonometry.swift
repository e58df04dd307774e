import Foundation

extension Operators {
    static let trigonometry: [OperatorDefinition] = [
        .unary("Sin", [7]) { sin($0) },
        .unary("Cos", [7]) { cos($0) },
        .unary("Tan", [7]) { tan($0) },
        .unary("Asin", [7]) { asin($0) },
        .unary("Acos", [7]) { acos($0) },
        .unary("Atan", [7]) { atan($0) },
        .unary("Sinh", [9]) { sinh($0) },
        .unary("Cosh", [9]) { cosh($0) },
        .unary("Tanh", [1, 6, 13]) { tanh($0) },
        .unary("Asinh", [9]) { asinh($0) },
        .unary("Acosh", [9]) { acosh($0) },
        .unary("Atanh", [9]) { atanh($0) },
    ]
}
