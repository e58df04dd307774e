/// Puts coded pictures into a HEIF file, and others together from them (ISO/IEC 23008-12).
struct HEIFWriter {
    /// A picture that a program has coded, out of a file of it.
    struct Coded {
        let kind: String
        let size: (width: Int, height: Int)
        /// The box with the parameters of its decoder.
        let configuration: [UInt8]
        var bytes: [UInt8]

        /// Of a file with one picture in HEVC or AV1; nil where its boxes are not found. heif-enc makes one of an odd size the
        /// only tile of a grid: it is that tile.
        init?(_ file: [UInt8]) {
            guard let ispe = file.place(of: "ispe"), let data = file.place(of: "mdat"),
                let (kind, box) = [("hvc1", "hvcC"), ("av01", "av1C")]
                    .compactMap({ pair in file.place(of: pair.1).map { (pair.0, $0) } }).first
            else { return nil }
            self.kind = kind
            size = (file.number(at: ispe + 8), file.number(at: ispe + 12))
            configuration = Array(file[box - 4..<box - 4 + file.number(at: box - 4)])
            bytes = Array(file[data + 4..<data - 4 + file.number(at: data - 4)])
            if kind == "hvc1" { leaveOutGrid() }
        }

        /// How the grid is put together stands behind the units of the tile, each of which begins with its length.
        private mutating func leaveOutGrid() {
            var end = 0
            while end + 4 < bytes.count, bytes.number(at: end) > 0 { end += 4 + bytes.number(at: end) }
            bytes.removeSubrange(min(end, bytes.count)...)
        }
    }

    struct Item {
        var kind: String
        var bytes: [UInt8]
        var properties: [[UInt8]]
        /// Among the boxes, in place of behind them.
        var isInside = false
        /// Its name, and what follows it in its entry.
        var text = "\0"
    }

    var items: [Item] = []
    private(set) var references: [UInt8] = []
    /// How often a picture's bytes are said to be had one after the other.
    var extents = 1

    /// The number of the new item. The first one is the main picture.
    mutating func add(_ item: Item) -> Int {
        items.append(item)
        return items.count
    }

    mutating func add(
        _ picture: Coded, size: (width: Int, height: Int)? = nil, properties: [[UInt8]] = []
    ) -> Int {
        let size = HEIFWriter.size(size ?? picture.size)
        let all = [size, picture.configuration] + properties
        return add(Item(kind: picture.kind, bytes: picture.bytes, properties: all))
    }

    /// The part of a picture that is seen, as a grid of one tile.
    mutating func add(
        _ picture: Coded, shown size: (width: Int, height: Int), properties: [[UInt8]] = []
    ) -> Int {
        let how = HEIFWriter.grid(rows: 1, columns: 1, width: size.width, height: size.height)
        let properties = [HEIFWriter.size(size)] + properties
        let grid = add(Item(kind: "grid", bytes: how, properties: properties, isInside: true))
        refer("dimg", from: grid, to: [add(picture)])
        return grid
    }

    /// `dimg` from a picture to those that it is made of, `auxl` from one to that which it belongs to.
    mutating func refer(_ kind: String, from: Int, to others: [Int]) {
        references += Box.of(kind, Box.big(from, 2) + Box.big(others.count, 2) + others.flatMap { Box.big($0, 2) })
    }

    /// How tiles are put together; what they are is said by a reference.
    static func grid(rows: Int, columns: Int, width: Int, height: Int) -> [UInt8] {
        [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + Box.big(width, 2) + Box.big(height, 2)
    }

    /// How pictures lie over each other on a ground of a colour in 16 bits.
    static func overlay(color: [Int], width: Int, height: Int, offsets: [(x: Int, y: Int)]) -> [UInt8] {
        [0, 0] + color.flatMap { Box.big($0, 2) } + Box.big(width, 2) + Box.big(height, 2)
            + offsets.flatMap { Box.big($0.x, 2) + Box.big($0.y, 2) }
    }

    static func size(_ size: (width: Int, height: Int)) -> [UInt8] {
        Box.of("ispe", Box.big(0, 4) + Box.big(size.width, 4) + Box.big(size.height, 4))
    }

    /// To be turned to the left.
    static func turn(quarters: Int) -> [UInt8] { Box.of("irot", [UInt8(quarters)]) }

    /// Of a picture that is the alpha of the one that it belongs to.
    static let alpha = Box.of("auxC", Box.big(0, 4) + Array("urn:mpeg:hevc:2015:auxid:1\0".utf8))

    func file() -> [UInt8] {
        let head = Box.of("ftyp", Array("heic".utf8) + Box.big(0, 4) + Array("mif1heic".utf8))
        // The places are as long whatever they are.
        let start = head.count + meta(dataStart: 0).count + 8
        let outside = items.filter { !$0.isInside }.flatMap(\.bytes)
        return head + meta(dataStart: start) + Box.of("mdat", outside)
    }

    private func meta(dataStart: Int) -> [UInt8] {
        let handler = Box.of("hdlr", Box.big(0, 8) + Array("pict".utf8) + Box.big(0, 13))
        let primary = Box.of("pitm", Box.big(0, 4) + Box.big(1, 2))
        var list = Box.big(0, 4) + Box.big(items.count, 2)
        var associations = Box.big(0, 4) + Box.big(items.count, 4)
        var properties: [[UInt8]] = []
        // Version 1, numbers of 4 bytes.
        var places = Box.big(1 << 24, 4) + [0x44, 0] + Box.big(items.count, 2)
        var (inside, outside) = (0, dataStart)
        for (index, item) in items.enumerated() {
            let entry = Box.big(2 << 24, 4) + Box.big(index + 1, 2) + Box.big(0, 2) + Array(item.kind.utf8)
            list += Box.of("infe", entry + Array(item.text.utf8))
            associations += Box.big(index + 1, 2) + [UInt8(item.properties.count)]
            for property in item.properties {
                properties.append(property)
                associations.append(UInt8(properties.count))
            }
            let place = Box.big(item.isInside ? inside : outside, 4) + Box.big(item.bytes.count, 4)
            places += Box.big(index + 1, 2) + Box.big(item.isInside ? 1 : 0, 2) + Box.big(0, 2) + Box.big(extents, 2)
            for _ in 0..<extents { places += place }
            if item.isInside { inside += item.bytes.count } else { outside += item.bytes.count }
        }
        var contents = handler + primary + Box.of("iloc", places) + Box.of("iinf", list)
        let all = Box.of("ipco", properties.flatMap { $0 }) + Box.of("ipma", associations)
        contents += Box.of("iprp", all)
        if !references.isEmpty { contents += Box.of("iref", Box.big(0, 4) + references) }
        contents += Box.of("idat", items.filter(\.isInside).flatMap(\.bytes))
        return Box.of("meta", Box.big(0, 4) + contents)
    }
}

extension [UInt8] {
    /// Where the name of a box begins.
    fileprivate func place(of kind: String) -> Int? { firstRange(of: Array(kind.utf8))?.lowerBound }

    fileprivate func number(at place: Int) -> Int { self[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
}
