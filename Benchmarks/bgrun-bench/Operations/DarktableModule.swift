import Foundation

/// One module of darktable with its parameters, as a sidecar file tells darktable-cli of it.
struct DarktableModule: Sendable {
    var operation: String
    /// Version of the parameters' layout.
    var version: Int
    /// The parameters in memory order, hexadecimal.
    var parameters: String

    /// Non-local means: patch size 2, full strength on brightness and colours.
    static let nonLocalMeans = DarktableModule(
        operation: "nlmeans", version: 2, parameters: "000000400000c8420000803f0000803f")
    /// Local contrast by local Laplacian pyramids with its defaults.
    static let localLaplacian = DarktableModule(
        operation: "bilat", version: 3, parameters: "010000000000003f0000003f0000a03f0000003f")
    /// Unsharp mask with radius 0.8 and amount 1.
    static let sharpen = DarktableModule(operation: "sharpen", version: 1, parameters: "cdcc4c3f0000803f00000000")

    /// The text of a sidecar file that switches on this module and nothing else that is not always on.
    var sidecar: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/">
         <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
          <rdf:Description rdf:about="" xmlns:darktable="http://darktable.sf.net/" darktable:xmp_version="5"
            darktable:raw_params="0" darktable:auto_presets_applied="1" darktable:history_end="1"
            darktable:iop_order_version="2">
           <darktable:history>
            <rdf:Seq>
             <rdf:li darktable:num="0" darktable:operation="\(operation)" darktable:enabled="1"
              darktable:modversion="\(version)" darktable:params="\(parameters)" darktable:multi_name=""
              darktable:multi_priority="0"/>
            </rdf:Seq>
           </darktable:history>
          </rdf:Description>
         </rdf:RDF>
        </x:xmpmeta>

        """
    }
}
