import type { ModelList } from '../../../../../engines/schema'
import { jsonOf } from '../../ui/controls'

export const APIS = { completions: 'Completions', chat: 'Chat', responses: 'Responses', messages: 'Messages' } as const
export type Api = keyof typeof APIS

/** The route of each API. */
export const PATHS: Record<Api, string> = {
  completions: '/completions',
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}

/** A function of the reader. The page shows its calls, and the reader types the results. */
export type FunctionTool = { name: string; description: string; schema: string }
export type Server = { label: string; url: string }
/** A file to send. `url` contains its bytes. */
export type Given = { name: string; type: string; url: string }

export type Common = {
  api: Api
  system: string
  temperature: string
  iterations: string
  skills: string
  tools: readonly FunctionTool[]
  servers: readonly Server[]
  format: 'text' | 'json' | 'schema'
  schema: string
}
export type Settings = Common & { mode: string; model: string }

export const PLAIN: Common = {
  api: 'completions',
  system: '',
  temperature: '',
  iterations: '',
  skills: '',
  tools: [],
  servers: [],
  format: 'text',
  schema: '',
}

/** The engine id of a mode, as used in the formats of other clients. */
export const modelOf = (mode: string, models: ModelList | undefined): string =>
  models?.models.find((model) => model.mode === mode)?.model_id ?? 'svc-1-auto'

export type Call = { id: string; name: string; arguments: string }
export type Sent =
  | { role: 'user'; text: string; files: readonly Given[] }
  | { role: 'tool'; results: readonly (Call & { result: string })[] }
export type Turn = Sent | { role: 'assistant'; text: string; calls: readonly Call[] }

export type Body = Record<string, unknown>

/** Parses a field of JSON. Returns an empty object while the text is not valid JSON. */
export function objectOf(text: string): Record<string, unknown> {
  const value = jsonOf(text)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

const isImage = ({ type }: Given) => type.startsWith('image/')
const base64Of = ({ url }: Given) => url.slice(url.indexOf(',') + 1)
const some = <T>(name: string, list: readonly T[]) => (list.length ? { [name]: list } : {})
/** A turn without files is a plain text. With files it is a list of parts. */
const contentOf = (text: string, files: readonly Given[], textPart: object, part: (file: Given) => object) =>
  files.length ? [...(text ? [textPart] : []), ...files.map(part)] : text

function completionBody(settings: Settings, turns: readonly Turn[]): Body {
  const last = turns.at(-1) as Sent
  const before = turns
    .slice(0, -1)
    .flatMap((turn) => (turn.role === 'tool' || !turn.text ? [] : [{ role: turn.role, content: turn.text }]))
  const { mode, system, iterations, servers } = settings
  const given = last.role === 'user' ? last.files : []
  const files = given.map((file) => ({ type: 'image_base64', data: base64Of(file), mime_type: file.type }))
  return {
    prompt: last.role === 'user' ? last.text : '',
    mode,
    stream: true,
    ...(before.length ? { conversation: { messages: before } } : {}),
    ...(system.trim() ? { persona: { system_prompt: system.trim() } } : {}),
    ...shared(settings),
    ...(iterations ? { max_iterations: Number(iterations) } : {}),
    ...some('tools', servers.map(serverTool)),
    ...some('attachments', files),
  }
}

const shared = ({ temperature, skills }: Settings) => ({
  ...(temperature ? { temperature: Number(temperature) } : {}),
  ...some('skills', skills.split(/[\s,]+/).filter(Boolean)),
})
// Needs no approval, because the reader who names a server wants its tools to run.
const serverTool = ({ label, url }: Server) => ({
  type: 'mcp',
  server_label: label,
  server_url: url,
  require_approval: 'never',
})
const functionOf = ({ schema, ...it }: FunctionTool) => ({ ...it, parameters: objectOf(schema) })

function chatBody(settings: Settings, turns: readonly Turn[]): Body {
  const { model, system, tools, servers, format, schema } = settings
  const messages = turns.flatMap((turn): object[] => {
    if (turn.role === 'tool')
      return turn.results.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result }))
    if (turn.role === 'assistant') {
      const calls = turn.calls.map(({ id, ...call }) => ({ id, type: 'function', function: call }))
      return [{ role: 'assistant', content: turn.text || null, ...some('tool_calls', calls) }]
    }
    const content = contentOf(turn.text, turn.files, { type: 'text', text: turn.text }, (file) =>
      isImage(file)
        ? { type: 'image_url', image_url: { url: file.url } }
        : { type: 'file', file: { filename: file.name, file_data: file.url } },
    )
    return [{ role: 'user', content }]
  })
  return {
    model,
    messages: system.trim() ? [{ role: 'system', content: system.trim() }, ...messages] : messages,
    stream: true,
    stream_options: { include_usage: true },
    ...shared(settings),
    ...some('tools', [
      ...tools.map((tool) => ({ type: 'function', function: functionOf(tool) })),
      ...servers.map(serverTool),
    ]),
    ...(format === 'json' ? { response_format: { type: 'json_object' } } : {}),
    ...(format === 'schema'
      ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: objectOf(schema) } } }
      : {}),
  }
}

function responseBody(settings: Settings, turns: readonly Turn[]): Body {
  const { model, system, tools, servers, format, schema } = settings
  const input = turns.flatMap((turn): object[] => {
    if (turn.role === 'tool')
      return turn.results.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result }))
    if (turn.role === 'assistant')
      return [
        ...(turn.text ? [{ role: 'assistant', content: turn.text }] : []),
        ...turn.calls.map(({ id, ...call }) => ({ type: 'function_call', call_id: id, ...call })),
      ]
    const content = contentOf(turn.text, turn.files, { type: 'input_text', text: turn.text }, (file) =>
      isImage(file)
        ? { type: 'input_image', image_url: file.url }
        : { type: 'input_file', filename: file.name, file_data: file.url },
    )
    return [{ role: 'user', content }]
  })
  return {
    model,
    ...(system.trim() ? { instructions: system.trim() } : {}),
    input,
    stream: true,
    store: false,
    ...shared(settings),
    ...some('tools', [...tools.map((tool) => ({ type: 'function', ...functionOf(tool) })), ...servers.map(serverTool)]),
    ...(format === 'json' ? { text: { format: { type: 'json_object' } } } : {}),
    ...(format === 'schema'
      ? { text: { format: { type: 'json_schema', name: 'answer', schema: objectOf(schema) } } }
      : {}),
  }
}

const MOST_TOKENS = 4_096

function messageBody(settings: Settings, turns: readonly Turn[]): Body {
  const { model, system, tools, servers, format, schema } = settings
  const messages = turns.map((turn) => {
    if (turn.role === 'tool')
      return {
        role: 'user',
        content: turn.results.map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result })),
      }
    if (turn.role === 'assistant')
      return {
        role: 'assistant',
        content: [
          ...(turn.text ? [{ type: 'text', text: turn.text }] : []),
          ...turn.calls.map(({ arguments: given, ...it }) => ({ type: 'tool_use', ...it, input: objectOf(given) })),
        ],
      }
    const content = contentOf(turn.text, turn.files, { type: 'text', text: turn.text }, (file) => {
      const source = { type: 'base64', media_type: file.type, data: base64Of(file) }
      return isImage(file) ? { type: 'image', source } : { type: 'document', title: file.name, source }
    })
    return { role: 'user', content }
  })
  const functions = tools.map(({ schema: input, ...it }) => ({ ...it, input_schema: objectOf(input) }))
  const remote = servers.map(({ label, url }) => ({ type: 'url', name: label, url }))
  const wanted = format === 'schema' ? objectOf(schema) : { type: 'object' }
  return {
    model,
    max_tokens: MOST_TOKENS,
    ...(system.trim() ? { system: system.trim() } : {}),
    messages,
    stream: true,
    ...shared(settings),
    ...some('tools', functions),
    ...some('mcp_servers', remote),
    ...(format === 'text' ? {} : { output_config: { format: { type: 'json_schema', schema: wanted } } }),
  }
}

const BODIES = { completions: completionBody, chat: chatBody, responses: responseBody, messages: messageBody }

/** The request body for these turns, of which the last is the reader's. The code panel uses the same body. */
export function bodyOf(settings: Settings, turns: readonly Turn[]): Body {
  const told = turns.flatMap((turn, at) => {
    if (turn.role !== 'assistant' || turns[at + 1]?.role === 'tool') return [turn]
    // Omits calls without a result, because engines reject them.
    return turn.text ? [{ ...turn, calls: [] }] : []
  })
  return BODIES[settings.api](settings, told)
}

/** Why an API does not support these settings. Null if it supports all. */
export function refusedBy({ api, tools, format }: Common, files: readonly Given[]): string | null {
  if (api !== 'completions') return null
  if (tools.length) return 'Completions do not take functions. Choose Chat, Responses or Messages.'
  if (format !== 'text') return 'Completions have no answer format. Choose Chat, Responses or Messages.'
  if (files.some((file) => !isImage(file)))
    return 'Completions take pictures only. Choose Chat, Responses or Messages for other files.'
  return null
}
