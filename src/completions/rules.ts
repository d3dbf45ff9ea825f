import type { Message } from '../engines'
import type { Firing } from '../guardrails/schema'
import type { Mode } from '../kernel/caller'
import { AppError, defineErrors, invalidInput, messageOf } from '../kernel/errors'
import { parsedJson } from '../kernel/json'
import { shorten } from '../kernel/text'
import type { Tools } from '../tools'
import type { McpServer, Toolset } from '../tools/schema'
import type { StoredAnswer } from './cache'
import type { Run } from './run'
import type { FollowUp, StructuredOutput } from './schema'

export const completionErrors = {
  ...defineErrors('empty_prompt', {
    emptyPrompt: '"messages" has no user message. Add one: {"role":"user","content":"Hello"}.',
    blankPrompt: (place: number) =>
      `"messages[${place}]", the last user message, has neither text nor an image. Add your question.`,
  }),
  ...defineErrors('context_length_exceeded', {
    contextExceeded: (tokens: number, limit: number) =>
      `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`,
  }),
  ...defineErrors('request_timeout', {
    requestTimeout: (seconds: number, mode: string) =>
      mode === 'research' || mode === 'video'
        ? `Mode "${mode}" did not finish within ${seconds} s. Send it to POST /${mode} and read poll_url.`
        : `The answer did not finish within ${seconds} s. Try again, ask for less, or send "stream": true.`,
  }),
  ...defineErrors('insufficient_credits', {
    /** The prompt alone costs more than the run's limit. */
    overBounds: 'The prompt alone would cost more than the limit of this run. Nothing was charged; shorten the prompt.',
  }),
}

/** Clients recognize this error by the words "maximum context length". It names the member that is too long. */
export const promptTooLong = (tokens: number, limit: number, { forClients, paths }: Run['request']) => {
  const param = paths?.all ?? 'prompt'
  const extras = { param, details: [{ path: param, message: `about ${tokens} tokens, at most ${limit}` }] }
  if (forClients) return completionErrors.contextExceeded.with(extras, tokens, limit)
  const message = `"${param}" and what goes with it come to about ${tokens} tokens; the maximum context length of the engine is ${limit}. Shorten it or split it.`
  return new AppError('validation_error', message, extras)
}

const MAX_METADATA_KEYS = 50
const MAX_METADATA_BYTES = 16 * 1024

export function assertMetadata(metadata: Record<string, unknown>): void {
  const keys = Object.keys(metadata).length
  if (keys > MAX_METADATA_KEYS) {
    throw invalidInput('metadata', `"metadata" has ${keys} keys; at most ${MAX_METADATA_KEYS} are allowed.`)
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata))
  if (bytes > MAX_METADATA_BYTES) {
    throw invalidInput('metadata', `"metadata" has ${bytes} bytes as JSON; at most ${MAX_METADATA_BYTES} are allowed.`)
  }
}

export const isStealth = (mode: string): boolean => mode.startsWith('stealth_')

/** Modes that may make a picture. `auto`, and no mode, may resolve to it. */
const MAY_DRAW: readonly unknown[] = ['image', 'stealth_image', 'auto', undefined]

/** The members of a request that do not count in its mode, so whatever they are is ignored (docs/api.md 2.1). */
export const ofOtherModes = ({ mode }: { readonly mode?: unknown }): string[] => [
  ...(MAY_DRAW.includes(mode) ? [] : ['image_model', 'image_quality']),
  ...(typeof mode === 'string' && isStealth(mode) ? [] : ['stealth_model']),
  ...(mode === 'stealth_image' ? [] : ['stealth_aspect']),
  ...(mode === 'stealth_video' ? [] : ['stealth_duration']),
]

/** Stealth changes what is stored, not how the answer is made (docs/api.md 2.1). */
const STEALTH_WORK: Record<string, string> = { stealth_text: 'fast', stealth_image: 'image', stealth_video: 'video' }

/** The mode that decides how the answer is made. For example, `stealth_text` is answered as `fast`. */
export const workOf = (mode: string): string => STEALTH_WORK[mode] ?? mode

/** Only what `auto` chose becomes a job. A request that names mode `video` waits (docs/api.md 2.4). */
export const isHandedOver = ({ request }: Run): boolean => request.mode === 'auto'

/** Modes whose answer is JSON, with the type that `structured_output` names. */
const STRUCTURED: Record<string, string> = { domain_analysis: 'domain_analysis', data_extraction: 'data_extraction' }

export const wantsJson = (mode: string): boolean => mode in STRUCTURED

/** Parses the answer of a JSON mode. `parse_error` reports an answer that is not JSON. */
export function structuredOutput(mode: string, content: string): StructuredOutput | undefined {
  const type = STRUCTURED[mode]
  if (!type) return undefined
  const data = parsedJson(unfenced(content))
  return data === undefined ? { type, data: null, parse_error: 'The engine did not answer with JSON.' } : { type, data }
}

/** The JSON object or list that is the whole answer, fenced or not. Null for any other answer. */
export function readJsonAnswer(content: string): object | null {
  const value = parsedJson(unfenced(content))
  return typeof value === 'object' ? value : null
}

/**
 * The content of a code fence, if the whole text is one. Uses string search, because a regular expression would
 * backtrack for minutes on an answer with many line breaks (docs/promises.md I28).
 */
function unfenced(content: string): string {
  const text = content.trim()
  const start = text.indexOf('\n')
  const opens = start > 0 && /^```(?:json)?\s*$/.test(text.slice(0, Math.min(start, 20)))
  return opens && text.endsWith('\n```') ? text.slice(start + 1, -4) : content
}

/** Every rule that fired on the request and on its answer, which may come from the cache (docs/api.md 12). */
export const firedIn = (
  { guard }: Pick<Run, 'guard'>,
  { guardrails }: Pick<StoredAnswer, 'guardrails'>,
): readonly Firing[] =>
  guard?.firings.length ? [...guard.firings.filter(({ phase }) => phase === 'input'), ...guardrails] : guardrails

/** Warns about modes that have their own endpoint (docs/api.md 2.4). Only this endpoint makes a stealth video. */
export const modeWarnings = (mode: Mode): string[] =>
  mode === 'research' || mode === 'video'
    ? [
        `Mode "${mode}" takes minutes and runs inline here, up to the request time-out. Send it to POST /${mode} and read poll_url.`,
      ]
    : []

/** Tools that the caller approved in advance: `metadata.approved_tools` (docs/api.md 22.5). */
export const approvedIn = (metadata: Record<string, unknown> | null): string[] => {
  const named = metadata?.approved_tools
  return Array.isArray(named) ? named.filter((name) => typeof name === 'string') : []
}

const MAX_FOLLOW_UPS = 3

/** Fixed suggestions by mode. */
const BY_MODE: Record<string, FollowUp[]> = {
  code: [
    { label: 'Add tests', prompt: 'Write tests for this code.' },
    { label: 'Explain it', prompt: 'Explain this code step by step.' },
    { label: 'Make it faster', prompt: 'Where could this code be slow, and how would you make it faster?' },
  ],
  think: [
    { label: 'Check the reasoning', prompt: 'What is the weakest step of this reasoning?' },
    { label: 'Other view', prompt: 'Argue the opposite as well as you can.' },
  ],
  roast: [{ label: 'Harder', prompt: 'Again, but less gentle.' }],
  genui: [{ label: 'Dark mode', prompt: 'Add a dark variant of this component.' }],
  // The next request would be a change of the picture or video, which cannot be guessed.
  image: [],
  video: [],
  domain_analysis: [{ label: 'Risks', prompt: 'What are the three biggest risks in this analysis?' }],
}

const SECTION = /^(?:#{1,4}\s+|\d+\.\s+\*\*|[-*]\s+\*\*)([^\n*#:]{3,60})/gm

/**
 * Up to three follow-up questions: first about the answer's headings, then the fixed ones of the mode. No engine is
 * called, so they cost nothing and add no latency.
 */
export function suggestFollowUps(mode: string, content: string): FollowUp[] {
  if (content.length < 80 && !BY_MODE[mode]) return []
  const fromSections = [...content.matchAll(SECTION)].slice(0, MAX_FOLLOW_UPS - 1).map(([, title]) => {
    const subject = title!.trim()
    return { label: shorten(subject, 40), prompt: `Tell me more about ${subject}.` }
  })
  const general: FollowUp[] = [{ label: 'Summarise', prompt: 'Summarise that in three sentences.' }]
  return [...fromSections, ...(BY_MODE[mode] ?? general)].slice(0, MAX_FOLLOW_UPS)
}

const runsHere = ({ request }: Run, { name, requiresApproval }: Run['served']['tools'][number]): boolean =>
  !requiresApproval || approvedIn(request.metadata).includes(name)

/**
 * Gets the tools of a request's MCP servers (docs/api.md 28.2). In a chat, tools without approval join the client's
 * functions. Throws 400 `validation_error` when the choice requires a call that no tool can answer.
 */
export async function bringServed(run: Run, servers: readonly McpServer[], tools: Tools): Promise<void> {
  const { functions, tools: inline } = run.request
  const taken = new Set([...inline, ...(functions?.tools ?? [])].map(({ name }) => name))
  const around = { taken, allowed: run.request.allowed ?? [], guard: run.guard, signal: run.deadline.signal }
  run.served = await tools.servers.bring(servers, around)
  if (!functions) return
  const { choice, only } = functions
  if (choice === 'required' && run.served.unreachable === servers.length)
    throw invalidInput('tools', '"tool_choice" is "required", and none of the MCP servers in "tools" could be reached.')
  if (only) run.served = { ...run.served, tools: run.served.tools.filter(({ name }) => only.includes(name)) }
  const requests = run.served.tools.filter((tool) => !runsHere(run, tool))
  const definitions = requests.map(({ name, description, inputSchema }) => ({
    name,
    description,
    parameters: inputSchema,
  }))
  const offered = [...functions.tools, ...definitions]
  const names = [...functions.tools, ...run.served.tools].map(({ name }) => name)
  if (typeof choice !== 'string' && !names.includes(choice.name))
    throw invalidInput(
      'tool_choice',
      `"tool_choice" names ${messageOf(choice.name)}, which is not among the tools that could be offered.`,
    )
  if (choice === 'required' && !names.length)
    throw invalidInput(
      'tool_choice',
      '"tool_choice" is "required", and the MCP servers in "tools" have no tools that may be called.',
    )
  run.offered = names.length ? { ...functions, tools: offered } : null
}

/**
 * Adds the tools of this server that the client names, unless one of its own functions has the same name. Throws 400
 * `validation_error` when a required tool cannot be offered.
 */
export function bringHosted(
  run: Run,
  { tools: wanted, first }: NonNullable<Run['request']['hosted']>,
  tools: Tools,
): void {
  const { request, call } = run
  const taken = new Set([...request.tools, ...(request.functions?.tools ?? [])].map(({ name }) => name))
  const found = tools.hosted(
    call,
    wanted.filter(({ name }) => !taken.has(name)),
    isStealth(request.mode),
  )
  if (typeof first === 'object' && found.missing.has(first.name))
    throw invalidInput('tool_choice', `"tool_choice" names ${first.name}. ${found.missing.get(first.name)}`)
  if (first === 'required' && !found.tools.length && !request.functions)
    throw invalidInput('tool_choice', '"tool_choice" asks for a call, and none of "tools" can be offered.')
  const omitted = [...found.missing].map(([name, why]) => `${name} was left out. ${why}`)
  run.served = {
    ...run.served,
    tools: [...run.served.tools, ...found.tools],
    warnings: [...run.served.warnings, ...omitted],
  }
}

/** The tools of MCP servers that run here beside a client's functions. Null if there are none. */
export function servedHere(run: Run, tools: Tools): Toolset | null {
  const fromServers = run.served.tools.filter((tool) => runsHere(run, tool))
  if (!fromServers.length) return null
  const { call, request } = run
  return tools.assemble({
    inline: [],
    skills: [],
    system: false,
    fromServers,
    approved: approvedIn(request.metadata),
    call,
  })
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value ?? {}).length === 0
const always = (): boolean => false
const is =
  (usual: unknown) =>
  (value: unknown): boolean =>
    value === usual

/** Members of other services' requests that change an answer there, each with a test for values that change nothing. */
const IGNORED: Readonly<Record<string, (value: unknown) => boolean>> = {
  audio: always,
  frequency_penalty: is(0),
  function_call: always,
  functions: isEmpty,
  logit_bias: isEmpty,
  logprobs: is(false),
  max_completion_tokens: always,
  max_tokens: always,
  modalities: (value) => Array.isArray(value) && value.every(is('text')),
  n: is(1),
  prediction: always,
  presence_penalty: is(0),
  reasoning_effort: always,
  seed: always,
  service_tier: (value) => value === 'auto' || value === 'default',
  stop: isEmpty,
  store: is(false),
  top_logprobs: is(0),
  top_p: is(1),
  web_search_options: always,
}

/** Their names in the order of the documents. */
export const IGNORED_MEMBERS: readonly string[] = Object.keys(IGNORED)

const NONE: ReadonlySet<string> = new Set()

/** The members of an input that were accepted and ignored (docs/api.md 1.1, 4). */
export const ignoredNamesIn = (input: object, honoured: ReadonlySet<string> = NONE): string[] => {
  const sent = input as Record<string, unknown>
  // Most inputs have none of these members.
  let hasAny = false
  for (const name in sent) hasAny ||= Object.hasOwn(IGNORED, name)
  if (!hasAny) return []
  return IGNORED_MEMBERS.filter((name) => sent[name] != null && !honoured.has(name) && !IGNORED[name]!(sent[name]))
}

/** A sentence that names the ignored members, so that callers do not expect an effect. Empty if there are none. */
export const ignoredWarning = (names: readonly string[]): string[] =>
  names.length ? [`Ignored, because this server does not have these settings: ${names.join(', ')}.`] : []

/**
 * Names the ignored members in a header of at most 1 KB (docs/api.md 29.3). Returns a function that adds names: those
 * that the engine does not have are known once it is chosen, before the first byte of a stream.
 */
export function nameIgnored(headers: Record<string, unknown>, names: readonly string[]) {
  const all: string[] = []
  const add = (more: readonly string[]): void => {
    all.push(...more)
    // Some names contain text from the client, and a header allows only printable ASCII.
    if (all.length)
      headers['x-svc-ignored'] = all
        .join(', ')
        .replace(/[^ -~]/g, '?')
        .slice(0, 1_024)
  }
  add(names)
  return { ignores: add }
}

/** Drops blank user turns, because engines reject them. A turn that was only an image is blank without it. */
export const withoutBlank = (history: readonly Message[]): readonly Message[] =>
  history.filter(({ role, content }) => role !== 'user' || typeof content !== 'string' || content.trim())
