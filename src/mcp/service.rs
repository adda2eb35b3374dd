//! The protocol side: revisions, capabilities, dispatch.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::contain::contain;
use super::tools::{self, unavailable};
use super::vaults::Vaults;

/// The revisions that are served: the last with sessions, and the one without.
const REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

const METHODS_WITH_PARAMETERS: [&str; 4] =
    ["tools/call", "resources/read", "prompts/get", "completion/complete"];

const INSTRUCTIONS: &str = "Notes of the user, as Markdown files. Find notes with search, \
    then read them with read_page. What is not found may exist but not be open to this client.";

/// The handler of all sessions and requests. Cheap to clone.
#[derive(Clone)]
pub struct McpServer {
    pub(super) vaults: Vaults,
    tools: Arc<ToolRouter<Self>>,
}

impl McpServer {
    /// A server over these vaults.
    #[must_use]
    pub fn new(vaults: Vaults) -> Self {
        Self { vaults, tools: Arc::new(tools::router()) }
    }

    /// The server as an HTTP service for `/mcp`, to be put behind the resource
    /// server's guard: by itself it judges neither token nor origin.
    #[must_use]
    pub fn into_http(self, sessions: Arc<LocalSessionManager>) -> McpHttp {
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            // The guard has judged both, for every route and by configuration.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let server = move || Ok(self.clone());
        StreamableHttpService::new(server, sessions, config)
    }
}

#[cfg(test)]
impl McpServer {
    /// The server with one tool more.
    pub(super) fn with_tool(
        mut self,
        route: rmcp::handler::server::router::tool::ToolRoute<Self>,
    ) -> Self {
        Arc::make_mut(&mut self.tools).add_route(route);
        self
    }
}

/// [`McpServer`] as an HTTP service.
pub type McpHttp = StreamableHttpService<McpServer, LocalSessionManager>;

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        // Resources, prompts and completion are answered, with nothing in them so
        // far. `resources.subscribe` is not advertised: there is nothing to watch.
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let this = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(this).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&REVISIONS)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = request.name.clone();
        let call = self.tools.call(ToolCallContext::new(self, request, context));
        contain(call).await.unwrap_or_else(|_| {
            tracing::error!(%tool, "a tool panicked");
            Ok(unavailable().into())
        })
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::with_all_items(self.tools.list_all());
        // Never `public`: what one caller may list, a shared cache must not give
        // to the next.
        if context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
        {
            list.ttl_ms = Some(0);
            list.cache_scope = Some(CacheScope::Private);
        }
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.get(name).cloned()
    }

    async fn read_resource(
        &self,
        _request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Err(ErrorData::resource_not_found("There is no such resource.", None))
    }

    async fn get_prompt(
        &self,
        _request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(ErrorData::invalid_params("There is no such prompt.", None))
    }

    /// The library takes a method whose parameters it cannot read for a method that
    /// it does not know. To the client that is another fault.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(if METHODS_WITH_PARAMETERS.contains(&request.method.as_str()) {
            ErrorData::invalid_params("The parameters do not fit this method.", None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "There is no such method.", None)
        })
    }
}
