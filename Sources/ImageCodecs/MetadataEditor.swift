extension ImageMetadata {
    package func edited(width: Int, height: Int) -> (metadata: ImageMetadata, notes: [String]) { (self, []) }
}
