package enum BuiltInProfile: Sendable {
    case srgb, displayP3
    package var bytes: [UInt8] { [] }
}
package final class ColorTransform {
    package static func make(from icc: [UInt8]?, to: BuiltInProfile, layout: PixelLayout) throws(CodecError)
        -> ColorTransform?
    { nil }
    package static func toSRGB(fromCMYK icc: [UInt8]?) throws(CodecError) -> ColorTransform? { nil }
    package static func transferCurves(of icc: [UInt8]) -> [[Float]]? { nil }
    package func apply(to: UnsafeMutableRawPointer, pixelCount: Int) {}
}
extension ImageMetadata {
    package func edited(width: Int, height: Int) -> (metadata: ImageMetadata, notes: [String]) { (self, []) }
}
package enum Checksum {
    package static func xxh3(_ bytes: UnsafeRawBufferPointer) -> String { "" }
}
