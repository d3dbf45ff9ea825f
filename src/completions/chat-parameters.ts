import type { EngineTool } from '../engines'
import { sha256Hex } from '../kernel/crypto'
import { invalidInput, messageOf, quoted } from '../kernel/errors'
import { parsedJson } from '../kernel/json'
import { nullable, oneOf, type Static, t } from '../kernel/schema'
import { assertFits } from '../kernel/validation'
import { newAllowance, problemsOf, sizeIfWritten, validatorOf, withoutEmpty } from '../tools'
import type { McpServer } from '../tools/schema'
import type { OfferedTools } from './agent-schema'
import { type ChatMessage, Effort, type FunctionChat, type FunctionTool, ToolChoice } from './chat-schema'
import { ignoredNamesIn, ignoredWarning } from './rules'
import type { CompletionRequest } from './run'
import type { ChatInput } from './schema'

const maybe = <T extends Parameters<typeof nullable>[0]>(schema: T) => t.Optional(nullable(schema))
const Penalty = maybe(t.Number({ minimum: -2, maximum: 2 }))
const Limit = maybe(t.Integer({ minimum: 1 }))

/** A text that ends an answer. */
const StopText = t.String({ minLength: 1, maxLength: 256 })

/** Members of a chat request that take effect on the addresses where clients expect them to (docs/api.md 33.2). */
const ChatParameters = t.Object({
  max_completion_tokens: Limit,
  max_tokens: Limit,
  stop: maybe(t.Union([StopText, t.Array(StopText, { maxItems: 16 })])),
  top_p: maybe(t.Number({ exclusiveMinimum: 0, maximum: 1 })),
  frequency_penalty: Penalty,
  presence_penalty: Penalty,
  logit_bias: maybe(t.Record(t.String(), t.Number({ minimum: -100, maximum: 100 }), { maxProperties: 300 })),
  seed: maybe(t.Integer()),
  reasoning_effort: Effort,
  reasoning: maybe(
    t.Object({
      effort: Effort,
      exclude: maybe(t.Boolean()),
      enabled: maybe(t.Boolean()),
      max_tokens: maybe(t.Integer()),
    }),
  ),
  verbosity: maybe(oneOf(['low', 'medium', 'high'] as const)),
  logprobs: maybe(t.Boolean()),
  top_logprobs: maybe(t.Integer({ minimum: 0, maximum: 20 })),
  prompt_cache_key: maybe(t.String({ maxLength: 512 })),
  prompt_cache_retention: maybe(t.String({ maxLength: 64 })),
  user: maybe(t.String({ maxLength: 512 })),
  safety_identifier: maybe(t.String({ maxLength: 512 })),
})

/** Names of the members that {@link parametersOfChat} reads. */
export const HONOURED_MEMBERS: ReadonlySet<string> = new Set(Object.keys(ChatParameters.properties))

/** Sentences that name the ignored members of a request, and where they would work (docs/api.md 33.1). */
export function ignoredIn(input: object, honours: boolean): string[] {
  const warnings = ignoredWarning(ignoredNamesIn(input, HONOURED_MEMBERS))
  if (honours) return warnings
  const names = ignoredNamesIn(input).filter((name) => HONOURED_MEMBERS.has(name))
  const unless = 'unless "chat_parameters" of the key or SVC_CHAT_PARAMETERS says otherwise'
  if (names.length) warnings.push(`Ignored: ${names.join(', ')}. They count under the base address /v1, ${unless}.`)
  return warnings
}

type Tuning = Pick<CompletionRequest, 'maxOutputTokens' | 'sampling' | 'reasoning' | 'endUser'>

/** The run's parameters from these members. Throws 400 `validation_error` for a value out of bounds. */
export function parametersOfChat(input: object): Tuning {
  assertFits(ChatParameters, input)
  const sent: Static<typeof ChatParameters> = input
  const limit = sent.max_completion_tokens ?? sent.max_tokens
  const { reasoning } = sent
  const word = sent.reasoning_effort ?? reasoning?.effort ?? (reasoning?.enabled === false ? 'none' : 'default')
  const effort = word === 'default' ? undefined : word === 'max' ? 'xhigh' : word
  const shows = reasoning?.exclude !== true
  return {
    ...(limit ? { maxOutputTokens: limit } : {}),
    ...samplingOf({
      topP: sent.top_p,
      seed: sent.seed,
      stop: typeof sent.stop === 'string' ? [sent.stop] : sent.stop,
      frequencyPenalty: sent.frequency_penalty,
      presencePenalty: sent.presence_penalty,
      logitBias: sent.logit_bias,
      verbosity: sent.verbosity,
      logprobs: sent.logprobs || sent.top_logprobs ? (sent.top_logprobs ?? 0) : null,
      cacheKey: sent.prompt_cache_key || null,
      cacheRetention: sent.prompt_cache_retention || null,
      cacheMarks: 'messages' in input ? marksOfChat(input as FunctionChat) : null,
    }),
    reasoning: effort ? { effort, shows } : { shows },
    ...endUserOf(sent.safety_identifier ?? sent.user),
  }
}

type CacheMarks = NonNullable<NonNullable<CompletionRequest['sampling']>['cacheMarks']>
type Marked = { cache_control?: unknown }

/**
 * How far the client wants the prompt cached (docs/api.md 29.1): the places with a mark, and the time of each place's
 * last mark. Null without marks. Unknown times are left out.
 */
export function cacheMarksOf(
  places: { [Place in keyof CacheMarks]?: readonly object[] | null | undefined },
  behind: number,
) {
  const marks = Object.entries(places).flatMap(([place, parts]) => {
    const marked = ((parts ?? []) as readonly Marked[]).findLast(({ cache_control: mark }) => mark != null)
    const { ttl } = (marked?.cache_control ?? {}) as { ttl?: unknown }
    const time = ttl === '1h' || ttl === '5m' ? { ttl } : {}
    return marked ? [[place, { ...time, ...(place === 'messages' && behind ? { behind } : {}) }] as const] : []
  })
  return marks.length ? (Object.fromEntries(marks) as CacheMarks) : null
}

const isMarked = (part: object) => (part as Marked).cache_control != null

const hasMark = (message: ChatMessage) =>
  isMarked(message) || (Array.isArray(message.content) && message.content.some(isMarked))

/** The cache marks of the tools and the message parts of a chat. A mark on a message counts as at its end. */
function marksOfChat({ tools, messages }: Pick<FunctionChat, 'tools' | 'messages'>): CacheMarks | null {
  // Most chats have none.
  if (!tools?.length && !messages.some(hasMark)) return null
  const marksIn = (message: ChatMessage): object[] => [
    message,
    ...(Array.isArray(message.content) ? message.content : []),
  ]
  const isSystem = ({ role }: ChatMessage) => role === 'system' || role === 'developer'
  const turns = messages.filter((message) => !isSystem(message))
  const at = turns.findLastIndex(hasMark)
  // The results of one turn are one message.
  const after = turns.slice(at + 1).filter(({ role }, place, all) => role !== 'tool' || all[place - 1]?.role !== 'tool')
  return cacheMarksOf(
    {
      tools: (tools ?? []).flatMap((tool): object[] =>
        'function' in tool && tool.function ? [tool, tool.function] : [tool],
      ),
      system: messages.filter(isSystem).flatMap(marksIn),
      messages: turns[at] ? marksIn(turns[at]) : [],
    },
    after.length,
  )
}

type Sampling = NonNullable<CompletionRequest['sampling']>

/** The sampling parameters that a client sent. Empty if it sent none. */
export function samplingOf(sent: { [M in keyof Sampling]: Sampling[M] | null | undefined }): Pick<Tuning, 'sampling'> {
  const sampling: Record<string, unknown> = {}
  for (const name in sent) {
    const value = sent[name as keyof Sampling]
    if (value != null && !(Array.isArray(value) && !value.length)) sampling[name] = value
  }
  return Object.keys(sampling).length ? { sampling } : {}
}

/** The client's own name for its user is only stored as a hash (docs/api.md 29.1). */
export const endUserOf = (name: string | null | undefined): Pick<Tuning, 'endUser'> =>
  name ? { endUser: sha256Hex(name) } : {}

/** A `tool_choice` in the chat format. Other formats use other words and put names in other places. */
function inUsualForm(choice: unknown): unknown {
  if (typeof choice !== 'object' || choice === null) return choice
  const { type, allowed_tools: allowed = choice, ...named } = choice as { type?: unknown; allowed_tools?: object }
  if (MODES.has(type)) return type
  const { name, custom } = named as { name?: unknown; custom?: unknown }
  if (type == null && 'function' in choice) return { ...choice, type: 'function' }
  if (type === 'custom' && custom) return { type: 'function', function: custom }
  if (name !== undefined && !('function' in choice)) return { type: 'function', function: { name } }
  const { mode, tools } = allowed as { mode?: unknown; tools?: unknown }
  if (type !== 'allowed_tools' || !Array.isArray(tools)) return choice
  return { type, allowed_tools: { mode, tools: tools.map(inUsualForm) } }
}

const MODES: ReadonlySet<unknown> = new Set(['none', 'auto', 'required', 'any'])

/** Checked if a chat has tools. Without tools any choice is accepted and ignored (docs/api.md 4). */
const Chosen = t.Object({ tool_choice: maybe(ToolChoice) })

const NO_PARAMETERS = { type: 'object', properties: {} }

/** The MCP servers among the tools of a chat, and their paths in it (docs/api.md 28.2). Empty without servers. */
export function serversIn({ tools }: Pick<ChatInput, 'tools'>): Pick<CompletionRequest, 'servers' | 'serversAt'> {
  if (!tools?.length) return {}
  const servers = tools.filter(isServer)
  const serversAt = tools.flatMap((tool, place) => (isServer(tool) ? [`tools[${place}]`] : []))
  return servers.length ? { servers, serversAt } : {}
}

const isServer = (tool: NonNullable<ChatInput['tools']>[number]): tool is McpServer => tool.type === 'mcp'

/**
 * The functions that a chat client offers. Null without tools, and empty if all tools are MCP servers (docs/api.md 4).
 * Throws 400 `validation_error` for a name used twice, for parameters that are not a schema, and for a `tool_choice`
 * that is not among the tools. Names of MCP tools in a choice are checked once the servers have listed their tools.
 */
export function functionsOf(
  input: Pick<ChatInput, 'tools' | 'tool_choice' | 'parallel_tool_calls'>,
): CompletionRequest['functions'] {
  const { tools, parallel_tool_calls: parallel } = input
  if (!tools?.length) return null
  const chosen: { tool_choice?: unknown } = { tool_choice: inUsualForm(input.tool_choice) }
  assertFits(Chosen, chosen)
  const { tool_choice: choice } = chosen
  const names = new Set<string>()
  const allowance = newAllowance()
  const functions: FunctionTool[] = []
  for (const [place, tool] of tools.entries()) {
    if (isServer(tool)) continue
    const at = tool.function || tool.name === undefined ? `tools[${place}].function` : `tools[${place}]`
    const { name = tool.function?.name, ...signature } = tool.function ?? tool
    if (name === undefined) throw invalidInput(at, `"${at}" is missing.`)
    // Some clients send the form of another format, with its name of the parameters.
    const { input_schema: parameters } = tool as { input_schema?: FunctionTool['function']['parameters'] }
    const given = signature.parameters ?? parameters
    const offered = { ...signature, name, ...(given ? { parameters: withoutEmpty(given) } : {}) }
    functions.push({ type: 'function', function: offered })
    if (names.has(name)) throw invalidInput(`${at}.name`, `"tools" has two functions named ${messageOf(name)}.`)
    names.add(name)
    const path = `${at}.parameters`
    // Engines reject an invalid schema. Patterns are not run here, because the client checks the arguments itself.
    if (offered.parameters) assertSchema(offered.parameters, path, allowance, sizeIfWritten)
  }
  const labels = tools.filter(isServer).map(({ server_label }) => `${server_label}__`)
  const isKnown = (name: string) => names.has(name) || labels.some((label) => name.startsWith(label))
  return { ...choose(functions.map(toEngineTool), choice ?? 'auto', isKnown), oneCallATurn: parallel === false }
}

/** Applies `tool_choice`: a mode, one named function, or a list of allowed functions with a mode. */
function choose(
  tools: EngineTool[],
  choice: Static<typeof ToolChoice>,
  isKnown: (name: string) => boolean,
): Omit<OfferedTools, 'oneCallATurn'> {
  // One vendor's word for "required".
  if (typeof choice === 'string') return { tools, choice: choice === 'any' ? 'required' : choice }
  const listed = 'function' in choice ? [choice.function.name] : choice.allowed_tools.tools.map(nameOf)
  const missing = listed.find((name) => !isKnown(name))
  if (missing !== undefined)
    throw invalidInput('tool_choice', `"tool_choice" names ${messageOf(missing)}, which is not among "tools".`)
  if ('function' in choice) return { tools, choice: { name: choice.function.name } }
  return { tools: tools.filter(({ name }) => listed.includes(name)), choice: choice.allowed_tools.mode, only: listed }
}

const nameOf = (named: { function: { name: string } }): string => named.function.name

const toEngineTool = ({ function: { name, description, parameters, strict } }: FunctionTool): EngineTool => ({
  name,
  description: description ?? '',
  // Upstreams require the type of a schema.
  parameters: parameters?.type ? parameters : { ...NO_PARAMETERS, ...parameters },
  ...(strict == null ? {} : { strict }),
})

/** Throws 400 `validation_error` with the first problem of a client's schema, if there is one. */
function assertSchema(...about: Parameters<typeof problemsOf>): void {
  const [problem] = problemsOf(...about)
  if (problem) throw invalidInput(problem.path, `"${quoted(problem.path)}" ${problem.message}.`)
}

type Form = Pick<CompletionRequest, 'json' | 'checkJson'>

const SCHEMA_PATH = 'response_format.json_schema.schema'

const isObject = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'it is not an object'

/**
 * The form that `response_format` requests (docs/api.md 4). Throws 400 `validation_error` for a schema that cannot be
 * checked here: too large, with external references or patterns that RE2 cannot run, or not JSON Schema.
 */
export function formatOf({ response_format: format }: Pick<ChatInput, 'response_format'>): Form {
  if (!format || format.type === 'text') return { json: false, checkJson: null }
  if (format.type !== 'json_schema') {
    // Clients of some other services send the schema there.
    if (format.schema) return formOfSchema(format.schema, 'response_format.schema')
    return { json: true, checkJson: (content) => problemOf(content, isObject) }
  }
  const { schema, name, strict } = format.json_schema ?? { schema: format.schema }
  if (!schema) throw invalidInput('response_format.json_schema', '"response_format.json_schema" is missing.')
  const form = formOfSchema(schema, SCHEMA_PATH)
  return { ...form, json: { schema, ...(name ? { name } : {}), ...(strict == null ? {} : { strict }) } }
}

/** The form of a JSON Schema. `path` is its place in the request. Throws as {@link formatOf}. */
export function formOfSchema(schema: Record<string, unknown>, path: string): Form {
  assertSchema(schema, path)
  return { json: { schema }, checkJson: (content) => problemOf(content, validatorOf(schema)) }
}

/** One sentence about what is wrong with the content, or null. */
function problemOf(content: string, check: (value: unknown) => string | null): string | null {
  const value = parsedJson(content)
  if (value === undefined) return 'The engine did not answer with JSON.'
  // The validator is shared with tools, so its sentences begin with "The arguments".
  const problem = check(value)?.replace(/^The arguments(?: together)?/, 'it')
  return problem ? `The answer does not fit the response format: ${problem}` : null
}
