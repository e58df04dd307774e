import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import Testing

/// What a command line makes of the look of pictures.
@Suite struct OperationTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.putPhotos(1)
    }

    /// The file that the exporter makes of the photograph with these settings.
    private func expected(_ change: (inout OutputSettings) -> Void) throws -> Data {
        var settings = OutputSettings()
        settings.size = .longEdge(100)
        settings.format = .png
        change(&settings)
        let out = place.path + "/expected.png"
        let item = ExportItem(
            input: place.path + "/photos/photo-0001.jpg",
            outputs: [ExportItem.Output(settings: settings, path: out, mayReplace: true)], lane: .cpu,
            limits: DecodeLimits())
        let result = ImageExporter().export(item) { _ in true }
        #expect(result.status == .good, "\(result.failure?.reason ?? "")")
        return try Data(contentsOf: URL(fileURLWithPath: out))
    }

    private func exported(_ arguments: String...) throws -> Data {
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--format", "png"] + arguments, in: place)
        let ended = run.end()
        #expect(ended.status == 0, "\(ended.errors)")
        return try Data(contentsOf: URL(fileURLWithPath: place.path + "/out/photo-0001.png"))
    }

    @Test func theOrderOfTheFlagsIsTheOrderOfTheChain() throws {
        let there = try exported("--saturation", "0.8", "--exposure", "-1.5", "--denoise", "0.3", "--exposure", "+1")
        #expect(
            try there
                == expected {
                    $0.operations = [
                        .saturation(0.8), .exposure(-1.5), .denoise(Denoising(luma: 0.3, chroma: 0.3)), .exposure(1),
                    ]
                })
        let back = try exported("--exposure=-1.5", "--denoise=0.3", "--exposure", "1", "--saturation", "0.8")
        #expect(
            try back
                == expected {
                    $0.operations = [
                        .exposure(-1.5), .denoise(Denoising(luma: 0.3, chroma: 0.3)), .exposure(1), .saturation(0.8),
                    ]
                })
        #expect(there != back)
    }

    @Test func everyFlagHasItsValues() throws {
        let curve = try #require(ToneCurve([.init(0, 0), .init(0.5, 0.6), .init(1, 1)]))
        let made = try exported(
            "--white-balance", "-0.2:0.1", "--contrast", "-0.5", "--curve", "0:0/0.5:0.6/1:1", "--denoise", "0.2:0.4",
            "--local-contrast", "0.6:0.5", "--deconvolve", "1:0.7", "--grain", "0.2:1.5:9", "--crop", "300x200+10+20",
            "--rotate", "-90", "--border", "5:102030")
        #expect(
            try made
                == expected {
                    $0.crop = .box(width: 300, height: 200, x: 10, y: 20)
                    $0.turns = 3
                    $0.border = Border(pixels: 5, color: [0x10, 0x20, 0x30])
                    $0.operations = [
                        .whiteBalance(WhiteBalance(temperature: -0.2, tint: 0.1)), .contrast(-0.5), .curve(curve),
                        .denoise(Denoising(luma: 0.2, chroma: 0.4)),
                        .localContrast(LocalContrast(amount: 0.6, reach: 0.5)),
                        .deconvolve(Deconvolution(amount: 1, sigma: 0.7, rounds: 5)),
                        .grain(Grain(amount: 0.2, size: 1.5, seed: 9)),
                    ]
                })
    }

    @Test(
        arguments: [("-1.5", nil, -1.5), ("91.5", 1, 1.5), ("-45.5", 3, 44.5), ("360", nil, nil)]
            as [(String, Int?, Double?)])
    func anAngleIsQuarterTurnsAndARest(_ angle: String, _ turns: Int?, _ rest: Double?) throws {
        let wanted = try expected {
            $0.turns = turns
            $0.straighten = rest
        }
        #expect(try exported("--rotate", angle) == wanted)
        #expect(try exported("--output", "rotate=\(angle),name={stem}.{ext}") == wanted)
    }

    @Test func aPresetComesBeforeTheFlagsAndAnOutputAddsItsOwn() throws {
        try place.write("operations:\n  - exposure: 0.5\n  - denoise: 0.1:0.2\n", to: "look.yaml")
        try place.write(#"{"operations": [{"exposure": 0.5}, {"denoise": "0.1:0.2"}]}"#, to: "look.json")
        let chain: [ImageOperation] = [
            .exposure(0.5), .denoise(Denoising(luma: 0.1, chroma: 0.2)), .contrast(0.2), .saturation(0.5),
        ]
        let wanted = try expected { $0.operations = chain }
        for preset in ["look.yaml", "look.json"] {
            let made = try exported(
                "--contrast", "0.2", "--preset", preset, "--output", "saturation=0.5,name={stem}.{ext}")
            #expect(made == wanted, "\(preset)")
            try FileManager.default.removeItem(atPath: place.path + "/out")
        }
    }

    @Test func aChangedChainMakesOutputsAnewAndTheSameOneKeepsThem() throws {
        func counts(_ exposure: String) throws -> [String: Int]? {
            try place.bgrun("export", "photos", "--out", "out", "--exposure", exposure, "--json").json()["counts"]
                as? [String: Int]
        }
        #expect(try counts("0.5")?["good"] == 1)
        #expect(try counts("0.5")?["current"] == 1)
        #expect(try counts("0.6")?["good"] == 1)
    }

    @Test func anotherAngleMakesOutputsAnew() throws {
        func good(_ angle: String) throws -> Int? {
            let run = try place.bgrun("export", "photos", "--out", "out", "--rotate", angle, "--json")
            return (try run.json()["counts"] as? [String: Int])?["good"]
        }
        #expect(try good("1.5") == 1)
        #expect(try good("1.5") == 0)
        #expect(try good("1.6") == 1)
    }

    @Test(arguments: [
        ("--exposure", "11"), ("--exposure", "bright"), ("--exposure", "nan"), ("--contrast", "1.1"),
        ("--saturation", ""), ("--curve", "0:0"), ("--curve", "0.5:0/0.2:1"), ("--denoise", "1.5"),
        ("--denoise", "0.1:0.2:0.3"), ("--local-contrast", "1:5"), ("--deconvolve", "1:2"), ("--grain", "0.1:0.5"),
        ("--crop", "3x2"), ("--crop", "0x5+1+1"), ("--rotate", "400"), ("--rotate", "left"), ("--border", "-1"),
        ("--border", "3:red"),
        ("--preset", "no-such.yaml"),
    ])
    func badValuesAreRefusedBeforeAnythingStarts(_ flag: String, _ value: String) throws {
        let ended = try place.bgrun("export", "photos", "--out", "out", "\(flag)=\(value)")
        #expect(ended.status == 64, "\(ended.errors)")
        #expect(!place.exists("out"))
    }

    @Test func everyMistakeOfAPresetIsToldWithItsLine() throws {
        try place.write(
            "operations:\n  - exposure: 20\n  - sharpness: 1\n  - contrast: 0.1\n    saturation: 0\n", to: "look.yaml")
        let ended = try place.bgrun("export", "photos", "--out", "out", "--preset", "look.yaml")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("look.yaml:2: operations[0].exposure: exposure takes -10 to 10"))
        #expect(ended.errors.contains("look.yaml:3: operations[1].sharpness"))
        #expect(ended.errors.contains("look.yaml:4: operations[2]: These are several operations"))
    }
}
