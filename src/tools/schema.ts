import { SCOPES } from '../kernel/caller'
import { form } from '../kernel/form'
import { JsonObject, namedObject, nullable, oneOf, type Static, t } from '../kernel/schema'
import { CATEGORIES, PERMISSION_LEVELS } from './tool'

export type { HostedTool, MadeThings, RequestedCall, ToolOutcome, Toolset } from './tool'

/** The name of a header in a record, whose names only a pattern can limit. */
const HeaderName = t.String({ pattern: '^[\\s\\S]{1,128}$' })

/** The address that a tool calls. */
export const ToolEndpoint = t.Object({
  url: t.String({ maxLength: 2_048 }),
  method: t.Optional(t.String({ maxLength: 8 })),
  headers: t.Optional(t.Record(HeaderName, t.String({ maxLength: 2_048 }), { additionalProperties: false })),
})

/** A tool defined in a request (docs/api.md 2.1). */
export const InlineTool = namedObject('InlineTool', {
  name: t.String({ pattern: form('^[A-Za-z0-9_-]{1,64}$', 'at most 64 letters, digits, hyphens and underscores') }),
  description: t.String({ maxLength: 4_096 }),
  input_schema: t.Optional(JsonObject),
  endpoint: t.Optional(ToolEndpoint),
})
export type InlineTool = Static<typeof InlineTool>

/** An MCP server whose tools a request may use (docs/api.md 28.2). */
export const McpServer = namedObject(
  'McpServer',
  {
    type: t.Literal('mcp'),
    server_label: t.String({ pattern: form('^[a-z0-9-]{1,32}$', 'at most 32 lower-case letters, digits and hyphens') }),
    server_url: t.String({ maxLength: 2_048 }),
    headers: t.Optional(
      t.Record(HeaderName, t.String({ maxLength: 2_048 }), {
        ...{ maxProperties: 10, additionalProperties: false },
        description: 'Sent with each request to the server; never logged',
      }),
    ),
    allowed_tools: t.Optional(t.Array(t.String({ maxLength: 128 }), { maxItems: 64 })),
    require_approval: t.Optional(oneOf(['never', 'always'] as const)),
  },
  { description: 'Its tools are offered as `label__name`, and run only when approved' },
)
export type McpServer = Static<typeof McpServer>

/** One tool as `GET /tools` lists it (docs/api.md 5.2). */
export const ToolEntry = namedObject('Tool', {
  name: t.String(),
  description: t.String(),
  inputSchema: JsonObject,
  outputSchema: t.Optional(JsonObject),
  category: oneOf(CATEGORIES),
  permissionLevel: oneOf(PERMISSION_LEVELS),
  requiresApproval: t.Boolean(),
  skillId: nullable(t.String({ format: 'uuid' })),
  available: t.Boolean({ description: 'Whether the tool works with the current configuration of this server' }),
  unavailableReason: nullable(t.String()),
  requiredScope: nullable(oneOf(SCOPES)),
})
export type ToolEntry = Static<typeof ToolEntry>

export const ToolList = t.Object({ tools: t.Array(ToolEntry) })
export const ToolQuery = t.Object({ category: t.Optional(oneOf(CATEGORIES)) })
export type ToolQuery = Static<typeof ToolQuery>

export const SigningSecret = t.Object({
  secret: t.String({
    description: 'Secret of the HMAC-SHA256 in the header Svc-Webhook-Signature of calls to your tool endpoints',
  }),
})
