import { chatMetadata, functionOfCustom, grammarWarning, type Progress, usageOf } from '../completions'
import type { FunctionTool } from '../completions/chat-schema'
import type { ChatInput, ToolUse } from '../completions/schema'
import type { ToolChoice } from '../engines'
import { invalidInput, messageOf } from '../kernel/errors'
import { wordOf } from '../kernel/text'
import type { HostedTool, McpServer } from '../tools/schema'
import type { Item, ResponseBody, ResponseInput } from './responses-schema'
import { servedBy, serverOf } from './responses-servers'

/** How a function call is returned: as a call of a custom tool, or of a function of a namespace. */
export type ToolKinds = ReadonlyMap<string, { custom: boolean; namespace: string | null; name?: string }>

type Choice = NonNullable<ChatInput['tool_choice']>
type Tool = McpServer | FunctionTool
type Named = { path: string; tool: Tool; kind: { custom: boolean; namespace: string | null; name?: string } }

const NO_TOOLS = {
  tools: [] as Tool[],
  choice: 'auto' as const,
  kinds: new Map() as ToolKinds,
  places: [] as string[],
  hosted: undefined,
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/

/**
 * The tools of a response as functions (docs/api.md 29.5). Tools that this server does not have are left out with a
 * warning. Throws 400 `validation_error` if `tool_choice` requires one of those.
 */
export function readTools({ tools: sent = [], tool_choice }: ResponseInput, added: readonly Placed[] = []) {
  const kindOfChoice = typeof tool_choice === 'object' ? wordOf(tool_choice?.type) : ''
  // Some clients send the mode as an object.
  const choice = /^(?:auto|none|required)$/.test(kindOfChoice) ? (kindOfChoice as 'auto') : tool_choice
  const warnings: string[] = []
  const placed = [...(sent ?? []).map((tool, at) => ({ tool, path: `tools[${at}]` })), ...added]
  if (!placed.length && (choice == null || choice === 'auto')) return { ...NO_TOOLS, warnings }
  const tools = placed.map(({ tool }) => tool)
  const leftOut = new Set<string>()
  const searches = tools.filter(isSearch)
  const drawing = tools.find(isDrawing)
  const all = placed.flatMap(({ tool, path }) =>
    isSearch(tool) || isDrawing(tool) ? [] : toolsIn(tool, path, null, leftOut, warnings),
  )
  const keyOf = ({ tool, kind: { namespace } }: Named) =>
    tool.type === 'function' ? `${namespace ?? ''} ${tool.function.name}` : tool
  // A tool that an item adds again has its latest definition.
  const last = new Map(all.map((one) => [keyOf(one), one]))
  const named = added.length ? all.filter((one) => last.get(keyOf(one)) === one) : all
  tellApart(named)
  if (leftOut.size)
    warnings.push(`These tools were left out, because this server does not have them: ${[...leftOut].join(', ')}.`)
  if (named.length > MAX_TOOLS)
    throw invalidInput('tools', `"tools" has ${named.length} tools in all; at most ${MAX_TOOLS} are allowed.`)
  const offered = named.map(({ tool }) => tool)
  const [search] = searches
  const { filters, search_context_size: size } = search ?? {}
  const { allowed_domains: allowed, blocked_domains: blocked } = (filters ?? {}) as Item
  const bounds = { count: RESULTS[wordOf(size)], allowed: domainsIn(allowed), blocked: domainsIn(blocked) }
  const own = [
    ...(search ? [{ name: 'web_search' as const, ...bounds }] : []),
    ...(drawing ? [{ name: 'generate_image' as const, set: { count: 1, ...shapeOf(drawing) } }] : []),
  ]
  const chosenKind = typeof choice === 'object' && choice ? choice : null
  const demanded = own.find(
    ({ name }) => chosenKind && (name === 'web_search' ? isSearch(chosenKind) : isDrawing(chosenKind)),
  )
  /** The call that the first turn has to make, if the choice is about a tool of this server. */
  const first: ToolChoice | undefined =
    choice === 'required' ? (own.length && !named.length ? choice : undefined) : demanded && { name: demanded.name }
  return {
    tools: offered,
    choice: first ? ('auto' as const) : chosen(choice ?? 'auto', named, leftOut),
    ...(own.length && choice !== 'none' ? { hosted: { tools: own as HostedTool[], ...(first ? { first } : {}) } } : {}),
    kinds: new Map(
      named.flatMap(({ tool, kind }) => (tool.type === 'function' ? [[tool.function.name, kind] as const] : [])),
    ),
    /** Path of each tool in the body. */
    places: named.map(({ path }) => path),
    warnings,
  }
}

/** A tool and its path in the body. */
type Placed = { tool: Item; path: string }

/** Items that only list additional tools. */
const ADDING: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

/** The tools that items of a conversation add. Throws 400 for an entry that is not an object. */
export const toolsAmong = (items: readonly Item[], pathOf: (at: number) => string): Placed[] =>
  items.flatMap((item, at) =>
    ADDING.has(item.type)
      ? entriesIn(item.tools, `${pathOf(at)}.tools`).map((tool, place) => ({
          tool,
          path: `${pathOf(at)}.tools[${place}]`,
        }))
      : [],
  )

/** Functions of two namespaces may share a name. The later one is offered as `namespace__name`. */
function tellApart(named: readonly Named[]): void {
  const taken = new Set<string>()
  for (const { tool, kind } of named) {
    if (tool.type !== 'function') continue
    const { name } = tool.function
    if (taken.has(name) && kind.namespace) {
      kind.name = name
      tool.function.name = `${kind.namespace}__${name}`.slice(0, 64)
    }
    taken.add(tool.function.name)
  }
}

const isSearch = ({ type }: Item): boolean => /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/.test(wordOf(type))

const isDrawing = ({ type }: Item): boolean => type === 'image_generation'

/** The nearest aspect ratio of pictures. Without a size the engine chooses it. */
function shapeOf({ size }: Item): { aspect_ratio?: string } {
  const [width = 0, height = 0] = wordOf(size).split('x').map(Number)
  if (!(width > 0 && height > 0)) return {}
  return { aspect_ratio: width === height ? '1:1' : width > height ? '3:2' : '2:3' }
}

/** The states in the stream of a call that this server runs. */
export const STEPS: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  image_generation_call: ['in_progress', 'generating', 'completed'],
}

const RESULTS: Readonly<Record<string, number>> = { low: 3, medium: 5, high: 10 }

const MAX_DOMAINS = 20
/** Maximum number of tools, including those of namespaces (docs/api.md 29.4). */
const MAX_TOOLS = 128

/** Host names as clients write them. */
export const domainsIn = (list: unknown): string[] =>
  Array.isArray(list)
    ? list.slice(0, MAX_DOMAINS).map((one) =>
        wordOf(one)
          .replace(/^https?:\/\//, '')
          .split('/')[0]!
          .toLowerCase(),
      )
    : []

function toolsIn(
  tool: Item,
  path: string,
  namespace: string | null,
  leftOut: Set<string>,
  warnings: string[],
): Named[] {
  switch (tool.type) {
    case 'function': {
      const own = inner(tool)
      const { parameters, strict } = own
      if (parameters != null && (typeof parameters !== 'object' || Array.isArray(parameters)))
        throw invalidInput(
          `${path}.parameters`,
          `"${path}.parameters" is ${messageOf(parameters)}; it must be a JSON Schema.`,
        )
      return [
        {
          path,
          kind: { custom: false, namespace },
          tool: {
            type: 'function',
            function: {
              name: nameIn(own, path),
              description: descriptionIn(own),
              parameters: parameters as Record<string, unknown> | null | undefined,
              strict: typeof strict === 'boolean' ? strict : null,
            },
          },
        },
      ]
    }
    case 'custom': {
      const custom = { ...tool, description: descriptionIn(tool), format: tool.format as Item | null | undefined }
      warnings.push(...grammarWarning(custom))
      return [{ path, kind: { custom: true, namespace }, tool: functionOfCustom(nameIn(tool, path), custom) }]
    }
    case 'namespace': {
      const name = nameIn(tool, path)
      return entriesIn(tool.tools, `${path}.tools`).flatMap((one, at) =>
        toolsIn(one, `${path}.tools[${at}]`, name, leftOut, warnings),
      )
    }
    case 'mcp': {
      if (tool.connector_id != null)
        throw invalidInput(`${path}.connector_id`, `"${path}.connector_id" is not supported. Send "server_url".`)
      return [{ path, kind: { custom: false, namespace: null }, tool: serverOf(tool, path) }]
    }
    default:
      leftOut.add(wordOf(tool.type, 'one without a type').slice(0, 64))
      return []
  }
}

/** A function, or its name, out of the object in which the chat format has it. */
const inner = (named: Item): Item =>
  typeof named.function === 'object' && named.function ? { ...named, ...named.function } : named

/** Objects of a list in a tool. Throws 400 for an entry that is not an object. */
function entriesIn(list: unknown, path: string): Item[] {
  if (!Array.isArray(list)) return []
  const wrong = list.findIndex((one) => typeof one !== 'object' || one === null || Array.isArray(one))
  if (wrong < 0) return list
  const place = `${path}[${wrong}]`
  throw invalidInput(place, `"${place}" is ${messageOf(list[wrong])}; it must be a tool, such as {"type":"function"}.`)
}

function nameIn({ name }: Item, path: string): string {
  if (typeof name === 'string' && NAME.test(name)) return name
  throw invalidInput(
    `${path}.name`,
    `"${path}.name" is ${messageOf(name)}; it must be at most 64 letters, digits, hyphens and underscores.`,
  )
}

const descriptionIn = ({ description }: Item): string =>
  typeof description === 'string' ? description.slice(0, 32_768) : ''

/** `tool_choice` in the form of chat completions. Throws 400 if it requires a tool that is not offered. */
function chosen(
  choice: NonNullable<ResponseInput['tool_choice']>,
  named: readonly Named[],
  leftOut: ReadonlySet<string>,
): Choice {
  if (choice === 'required' && !named.length)
    throw invalidInput('tool_choice', '"tool_choice" is "required", and none of "tools" can be offered.')
  if (typeof choice === 'string') return choice as Choice
  const one = ({ name }: Item) => ({ type: 'function' as const, function: { name: wordOf(name) } })
  switch (choice.type) {
    case 'function':
    case 'custom': {
      assertOffered(inner(choice).name, named)
      return one(inner(choice))
    }
    case 'mcp': {
      const label = `${wordOf(choice.server_label)}__`
      const name = typeof choice.name === 'string' ? label + choice.name : null
      assertOffered(name ?? label, named)
      return name === null ? 'required' : one({ name })
    }
    case 'allowed_tools': {
      const listed = entriesIn(choice.tools, 'tool_choice.tools').filter(({ name }) => name !== undefined)
      for (const { name } of listed) assertOffered(name, named)
      const mode = choice.mode === 'required' ? 'required' : 'auto'
      return listed.length ? { type: 'allowed_tools', allowed_tools: { mode, tools: listed.map(one) } } : mode
    }
    default: {
      if (leftOut.has(wordOf(choice.type)) || !named.length)
        throw invalidInput(
          'tool_choice',
          `"tool_choice" names ${messageOf(choice.type)}, which this server does not have.`,
        )
      return 'auto'
    }
  }
}

function assertOffered(name: unknown, named: readonly Named[]): void {
  const isKnown = named.some(({ tool }) =>
    tool.type === 'function' ? tool.function.name === name : wordOf(name).startsWith(`${tool.server_label}__`),
  )
  if (!isKnown) throw invalidInput('tool_choice', `"tool_choice" names ${messageOf(name)}, which is not among "tools".`)
}

/** A call that this server ran, with its outcome. */
export type ToolRun = Pick<ToolUse, 'name' | 'status' | 'arguments' | 'result' | 'description'>
export type FoundPage = { url: string; title: string }
export type Citation = FoundPage & { type: 'url_citation'; start_index: number; end_index: number }

/** The item of a call that this server ran. Null for a tool that the request does not name. */
export function itemOf(
  { name, status, arguments: args = {}, result, description }: ToolRun,
  tools: readonly Item[],
  pictures: ReadonlyMap<string, string>,
  newId: (prefix: string) => string,
): Item | null {
  const failed = status !== 'success'
  if (name === 'generate_image' && tools.some(isDrawing)) {
    const [image] = ((result ?? {}) as { images?: { artifact_id: string | null }[] }).images ?? []
    return {
      id: newId('ig'),
      type: 'image_generation_call',
      status: failed ? 'failed' : 'completed',
      revised_prompt: wordOf(args.prompt),
      result: pictures.get(image?.artifact_id ?? '') ?? null,
    }
  }
  if (name === 'web_search' && tools.some(isSearch))
    return {
      id: newId('ws'),
      type: 'web_search_call',
      status: failed ? 'failed' : 'completed',
      action: { type: 'search', query: String(args.query ?? '') },
    }
  const served = servedBy(name, tools)
  if (!served || status === 'awaiting_approval') return null
  return {
    id: newId('mcp'),
    type: 'mcp_call',
    status: failed ? 'failed' : 'completed',
    server_label: served.label,
    name: served.tool,
    arguments: JSON.stringify(args),
    output: failed ? null : typeof result === 'string' ? result : JSON.stringify(result ?? null),
    error: failed ? description : null,
  }
}

/** The places where a text names found pages, one per page. */
export function citationsIn(text: string, found: readonly FoundPage[]): Citation[] {
  if (!found.length) return []
  const pages = new Map(found.map(({ url, title }) => [url, title]))
  return [...pages].flatMap(([url, title]): Citation[] => {
    const start_index = text.indexOf(url)
    return start_index < 0
      ? []
      : [{ type: 'url_citation', start_index, end_index: start_index + url.length, url, title }]
  })
}

/** Tokens of an answer, and how it was made. */
export function countsOf({
  run,
  answer,
}: Extract<Progress, { type: 'ended' }>): Pick<ResponseBody, 'usage' | 'svc_metadata'> {
  const { prompt_tokens, completion_tokens, total_tokens } = usageOf(run, answer)
  const { artifacts: _, follow_ups: __, job: ___, ...metadata } = chatMetadata(run, answer)
  return {
    usage: {
      input_tokens: prompt_tokens,
      input_tokens_details: {
        cached_tokens: answer.cachedTokens ?? 0,
        cache_write_tokens: answer.cacheWriteTokens ?? 0,
      },
      output_tokens: completion_tokens,
      output_tokens_details: { reasoning_tokens: answer.reasoningTokens ?? 0 },
      total_tokens,
    },
    svc_metadata: metadata,
  }
}
