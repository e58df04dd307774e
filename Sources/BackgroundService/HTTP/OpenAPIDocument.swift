/// The description of the service's interface, as `GET /openapi.yml` answers it.
enum OpenAPIDocument {
    static let text = """
        openapi: 3.1.0
        info:
          title: bgrun service
          version: "1"
        paths: {}

        """
}
