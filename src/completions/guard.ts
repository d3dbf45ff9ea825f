import { type Blocked, type Guard, guardrailBlocked, type HoldBack, replacementText } from '../guardrails'
import { parsedJson } from '../kernel/json'
import { beginningOf } from '../kernel/text'
import type { Findings } from '../research'
import type { AgentResult, ToolUse } from './agent-schema'
import { recordRefused } from './record'
import { readJsonAnswer, wantsJson, workOf } from './rules'
import type { CompletionRequest, PipelineDeps, Run } from './run'

/** The hold-back of a streamed answer. Null when no rule needs one. */
export const holdBackOf = (run: Run): HoldBack | null =>
  run.guard?.holdBack({ ...aboutAnswer(run), sources: [] }, run.deadline.signal) ?? null

const withheld = (run: Run, result: AgentResult, by: Blocked): AgentResult => ({
  ...unquoted(run, result, { isWithheld: true }),
  content: replacementText(by),
  finish: 'content-filter',
  toolCalls: [],
})

/** Sources that can ground an answer: the prompt, the conversation, memories, skills and tool results. */
const sourcesOf = ({ request, history, memories, active }: Run, { toolUses }: AgentResult): string[] => [
  request.prompt,
  ...history.flatMap(({ content }) =>
    typeof content === 'string' ? [content] : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  ),
  ...memories,
  ...(active.prompt ? [active.prompt] : []),
  ...toolUses.map(({ result }) => (typeof result === 'string' ? result : (JSON.stringify(result) ?? ''))),
]

type Brought = Pick<CompletionRequest, 'tools' | 'functions'>

/**
 * The caller's texts in tool definitions. `prose` may be redacted. Names and values are `fixed`, because redacting a
 * part would change their meaning.
 */
type ToolWords = { prose: string[]; fixed: string[] }

/** Members of a JSON Schema that are prose. */
const PROSE = new Set(['description', 'title', '$comment'])

/** Members of a schema that hold schemas by name. The caller chose the names. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Members of a schema that hold plain values. */
const VALUES = new Set(['enum', 'const', 'default', 'examples', 'example'])

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

const FORMATS = ['date', 'date-time', 'time', 'email', 'uri', 'uuid', 'hostname']

const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'multipleOf', 'uniqueItems']

const CHOICES = ['anyOf', 'oneOf', 'allOf', 'not']

/** Keywords of JSON Schema, which need no check. */
const KEYWORDS = new Set([
  'type',
  'required',
  'items',
  'format',
  'additionalProperties',
  'pattern',
  'strict',
  'exclusiveMinimum',
  'exclusiveMaximum',
  '$schema',
  '$ref',
  'nullable',
  '',
  ...TYPES,
  ...FORMATS,
  ...BOUNDS,
  ...CHOICES,
  ...PROSE,
  ...NAMED,
  ...VALUES,
])

/** Smaller numbers are too short for phone numbers, cards or ids. */
const LONG_NUMBER = 1_000_000

type TextVisitor = { prose(text: string): string; fixed(text: string): unknown }

type Voice = CompletionRequest['voice']

const USUAL_LIBRARY = 'svc'

/** The caller's own texts of persona, style and component library. Empty strings for absent texts. */
const wordsOfVoice = ({ persona, style, componentLibrary }: Voice): string[] => [
  typeof persona === 'object' ? persona.system_prompt : '',
  style?.format ?? '',
  style?.preciseness ?? '',
  style?.intent ?? '',
  componentLibrary === USUAL_LIBRARY ? '' : componentLibrary,
]

/**
 * Checks everything a request brings against the caller's policy, before anything is billed (docs/api.md 12). Applies
 * redacting rules to the prompt, the turns sent with it, attachment URLs, persona, memories and tools, and stores the
 * result in the run. Throws 400 `guardrail_blocked`, after recording the refusal.
 */
export async function guardInput(deps: PipelineDeps, run: Run): Promise<void> {
  const { guard, deadline, request } = run
  if (!guard) return
  await guardToolResults(run, guard)
  if (!guard.hasRules('input')) return
  const userTexts = request.context.filter(isUserTurn).map(({ content }) => content)
  const links = request.images.map(({ attachment: one }) =>
    one.type === 'image_url' && !one.url.startsWith('data:') ? one.url : '',
  )
  const passed = await guard.checkInput([request.prompt, ...userTexts, ...links], deadline.signal)
  if (passed.blocked) throw await refusal(deps, run, passed.blocked, placeOf(passed.place, userTexts.length, request))
  const [prompt, ...rest] = passed.value
  const context = run.request.context.map((turn) => (isUserTurn(turn) ? { ...turn, content: rest.shift()! } : turn))
  const images = request.images.filter((_, place) => rest[place] === links[place])
  const warnings = images.length < request.images.length ? [...request.warnings, UNLINKED] : request.warnings
  await guardHistory(run, guard)
  replaceInRequest(run, { prompt: prompt!, context, images, warnings })
  await guardAccompanying(deps, run, guard)
  await guardToolDefinitions(deps, run, guard)
}

/** Checks persona and style, the caller's assistant turns, and memories, because the engine reads them as well. */
async function guardAccompanying(deps: PipelineDeps, run: Run, guard: Guard): Promise<void> {
  const { signal } = run.deadline
  const passed = await guard.checkInput(wordsOfVoice(run.request.voice), signal, 'accompanying')
  if (passed.blocked) throw await refusal(deps, run, passed.blocked, run.request.paths?.persona ?? 'persona')
  const { context, after, voice } = run.request
  const assistantTexts = [...context, ...after].filter(isAssistantTurn).map(({ content }) => content)
  const redacted = await guard.redactEarlier([...assistantTexts, ...run.memories], signal, 'accompanying')
  const checked = (turn: Turn) => (isAssistantTurn(turn) ? { ...turn, content: redacted.shift()! } : turn)
  const turns = { context: context.map(checked), after: after.map(checked) }
  replaceInRequest(run, { ...turns, voice: withVoice(voice, passed.value) })
  run.memories = redacted
}

/** Checks the caller's tools. Matches in descriptions are redacted. A match in a name or a value is rejected. */
async function guardToolDefinitions(deps: PipelineDeps, run: Run, guard: Guard): Promise<void> {
  if (!run.request.tools.length && !run.request.functions) return
  const words = wordsOfTools(run.request)
  const { value: left, blocked } = await guard.checkToolDefinitions(words, run.deadline.signal)
  if (blocked) throw await refusal(deps, run, blocked, 'tools')
  if (left.every((text, place) => text === words.prose[place])) return
  const leftOf = new Map(words.prose.map((text, place) => [text, left[place]!]))
  replaceInRequest(
    run,
    rewriteTools(run.request, { prose: (text) => leftOf.get(text) ?? text, fixed: () => undefined }),
  )
}

/** Redacts the user's stored turns again, because they may be older than the policy. */
async function guardHistory(run: Run, guard: Guard): Promise<void> {
  const stored = run.history.slice(0, run.history.length - run.request.context.length)
  const userTurns = stored.filter(isUserTurn)
  if (!userTurns.length) return
  const redacted = await guard.redactEarlier(
    userTurns.map(({ content }) => content),
    run.deadline.signal,
  )
  const turns = stored.map((turn) => (isUserTurn(turn) ? { ...turn, content: redacted.shift()! } : turn))
  run.history = [...turns, ...run.request.context]
}

/** Checks the tool results that a client sends when it runs the tool loop itself. */
async function guardToolResults(run: Run, guard: Guard): Promise<void> {
  if (!guard.hasRules('tool_result')) return
  const guarded = async (turns: readonly Turn[]) => {
    const checked: Turn[] = []
    for (const turn of turns) checked.push(turn.role === 'tool' ? await guardToolResult(turn, run, guard) : turn)
    return checked
  }
  const { context, after } = run.request
  replaceInRequest(run, { context: await guarded(context), after: await guarded(after) })
}

async function refusal(
  deps: PipelineDeps,
  run: Run,
  { guardrailId, detail, message }: Blocked,
  place: string,
): Promise<Error> {
  await deps.store.write((tx) => recordRefused(deps, tx, run))
  return guardrailBlocked(guardrailId, message, place, detail)
}

const UNLINKED = 'An attachment was ignored because a guardrail redacted part of its URL.'

/** The field that the text at this place came from: the prompt, then the turns, then the attachments. */
function placeOf(place: number, turns: number, { paths, images }: Run['request']): string {
  if (place === 0) return paths?.prompt ?? 'prompt'
  if (place <= turns) return paths?.userTurns[place - 1] ?? 'conversation'
  return images[place - turns - 1]?.path ?? 'attachments'
}

type Turn = Run['history'][number]
type ToolTurn = Extract<Turn, { role: 'tool' }>

const isAssistantTurn = (turn: Turn): turn is Turn & { role: 'assistant'; content: string } =>
  turn.role === 'assistant' && typeof turn.content === 'string' && turn.content !== ''

const isUserTurn = (turn: Turn): turn is Turn & { role: 'user'; content: string } =>
  turn.role === 'user' && typeof turn.content === 'string'

async function guardToolResult(turn: ToolTurn, { deadline }: Run, guard: Guard): Promise<ToolTurn> {
  // A result that is JSON is parsed, because escapes could hide a match from the rules.
  const parsedContent = readJsonAnswer(turn.content) ?? turn.content
  const { value, blocked } = await guard.checkToolData('tool_result', turn.toolName, parsedContent, deadline.signal)
  if (blocked) return { ...turn, content: blocked.message ?? 'The result was withheld by a guardrail.' }
  if (value === parsedContent) return turn
  return { ...turn, content: typeof value === 'string' ? value : JSON.stringify(value) }
}

/** Replaces members of the request, and the request's turns in the history, which follow the stored turns. */
function replaceInRequest(run: Run, members: Partial<Run['request']>): void {
  const stored = run.history.slice(0, run.history.length - run.request.context.length)
  run.request = { ...run.request, ...members }
  run.history = [...stored, ...run.request.context]
}

/** The voice with its texts replaced, in the order of {@link wordsOfVoice}. */
function withVoice(voice: Voice, [prompt, format, preciseness, intent, componentLibrary]: string[]): Voice {
  const { persona, style } = voice
  return {
    ...voice,
    persona: typeof persona === 'object' ? { system_prompt: prompt! } : persona,
    style: style && { format, preciseness, intent },
    componentLibrary: componentLibrary || voice.componentLibrary,
  }
}

/** Every text that the caller wrote into the tools of a request, without repeats. */
function wordsOfTools(brought: Brought): ToolWords {
  const [prose, fixed] = [new Set<string>(), new Set<string>()]
  rewriteTools(brought, {
    prose: (text) => {
      prose.add(text)
      return text
    },
    fixed: (text) => KEYWORDS.has(text) || fixed.add(text),
  })
  prose.delete('')
  return { prose: [...prose], fixed: [...fixed] }
}

/** The tools with each prose text replaced by the result of `visit.prose`. `visit.fixed` gets all other texts. */
function rewriteTools({ tools, functions }: Brought, visit: TextVisitor): Brought {
  return {
    tools: tools.map((tool) => {
      visit.fixed(tool.name)
      const { description, input_schema: schema } = tool
      return {
        ...tool,
        description: visit.prose(description),
        ...(schema ? { input_schema: rewriteSchema(schema, visit) } : {}),
      }
    }),
    functions: functions && {
      ...functions,
      tools: functions.tools.map((tool) => {
        visit.fixed(tool.name)
        const { description, parameters } = tool
        return {
          ...tool,
          parameters: rewriteSchema(parameters, visit),
          ...(description === undefined ? {} : { description: visit.prose(description) }),
        }
      }),
    },
  }
}

function rewriteSchema<Schema>(schema: Schema, visit: TextVisitor): Schema {
  if (Array.isArray(schema)) return schema.map((one) => rewriteSchema(one, visit)) as Schema
  if (typeof schema !== 'object' || schema === null) {
    visitValue(schema, visit)
    return schema
  }
  const members = Object.entries(schema).map(([name, value]): [string, unknown] => {
    visit.fixed(name)
    if (PROSE.has(name) && typeof value === 'string') return [name, visit.prose(value)]
    if (VALUES.has(name)) visitValue(value, visit)
    return [name, VALUES.has(name) ? value : NAMED.has(name) ? rewriteNamed(value, visit) : rewriteSchema(value, visit)]
  })
  return Object.fromEntries(members) as Schema
}

/** Schemas by name. A name may be anything, also `description` or `default`. */
function rewriteNamed(named: unknown, visit: TextVisitor): unknown {
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return rewriteSchema(named, visit)
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => {
      visit.fixed(name)
      return [name, rewriteSchema(schema, visit)]
    }),
  )
}

function visitValue(value: unknown, visit: TextVisitor): void {
  if (typeof value === 'string') visit.fixed(value)
  else if (typeof value === 'number' && Math.abs(value) >= LONG_NUMBER) visit.fixed(String(value))
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inside] of Object.entries(value)) {
      if (!Array.isArray(value)) visit.fixed(name)
      visitValue(inside, visit)
    }
  }
}

/**
 * The answer as it may be shown, stored and cached: redacted, or replaced when a rule of the caller's policy blocks it
 * (docs/api.md 12). For a streamed answer, the hold-back knows what it has already blocked. Reasoning is not checked,
 * so a policy that checks answers removes it.
 */
export async function guardOutput(run: Run, full: AgentResult, guard: Guard): Promise<AgentResult> {
  const result = guard.hasRules('output')
    ? { ...full, reasoning: '', spoken: full.spoken?.map((turn) => ({ ...turn, reasoning: '' })) }
    : full
  const stopped = run.held?.blocked()
  if (stopped) {
    guard.recordBlocked(stopped)
    return withheld(run, result, stopped)
  }
  if (!guard.hasRules('output') || !result.content) return guardToolCalls(run, result, guard)
  const about = { ...aboutAnswer(run), sources: sourcesOf(run, result) }
  const { value, blocked } = await guard.checkAnswer(result.content, about, run.deadline.signal)
  if (blocked) return withheld(run, result, blocked)
  const left = value === result.content ? result : unquoted(run, { ...result, content: value }, { isWithheld: false })
  return guardToolCalls(run, left, guard)
}

function aboutAnswer({ system, request, resolvedMode }: Run) {
  const isCode = workOf(resolvedMode) === 'genui' && !request.json
  const isJson = request.json || isCode || wantsJson(workOf(resolvedMode))
  return { systemPrompt: system, readJson: isJson ? readJsonAnswer : null, isCode }
}

/** Checks calls of the client's own functions as tool calls. A blocked call is dropped. */
async function guardToolCalls(run: Run, result: AgentResult, guard: Guard): Promise<AgentResult> {
  if (!result.toolCalls.length || !guard.hasRules('tool_call')) return result
  let stopped: Blocked | null = null
  const toolCalls: AgentResult['toolCalls'][number][] = []
  for (const call of result.toolCalls) {
    const parsedArguments = parsedJson(call.arguments) ?? call.arguments
    const { value, blocked, name } = await guard.checkToolData(
      'tool_call',
      call.name,
      parsedArguments,
      run.deadline.signal,
    )
    stopped ??= blocked
    if (!blocked)
      toolCalls.push({ ...call, name, ...(value === parsedArguments ? {} : { arguments: JSON.stringify(value) }) })
  }
  if (toolCalls.length || !stopped) return { ...result, toolCalls }
  return withheld(run, result, stopped)
}

/** The tool use that represents a research run within a request. */
export function researchUse(run: Run, { pages, citations }: Findings): ToolUse {
  return {
    id: run.id,
    name: 'deep_research',
    status: 'success',
    description: `read ${pages} pages`,
    arguments: { question: beginningOf(run.request.prompt, 4_000), max_sources: run.researchRun?.maxSources },
    result: { citations },
  }
}

/** Keeps text that the policy removed out of log probabilities and citations. */
function unquoted(run: Run, result: AgentResult, { isWithheld }: { isWithheld: boolean }): AgentResult {
  const quiet = (use: ToolUse): ToolUse => {
    if (use.id !== run.id) return use
    const { citations } = use.result as { citations: Findings['citations'] }
    return { ...use, result: { citations: isWithheld ? [] : citations.map((one) => ({ ...one, snippet: '' })) } }
  }
  return { ...result, logprobs: [], toolUses: result.toolUses.map(quiet) }
}
