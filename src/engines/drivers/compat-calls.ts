import { parsedJson } from '../../kernel/json'
import {
  type CallDelta,
  type EngineAnswer,
  EngineFailure,
  type EnginePart,
  type EngineRequest,
  type EngineTool,
  type Sink,
  type ToolCall,
} from '../engine'
import { argumentsOf, finishWith, withoutMarks } from './compat-body'

/** A call, or a piece of one. The upstream needs its other members back on the next turn. */
export type WireCall = {
  index?: number | null
  id?: string | null
  type?: unknown
  function?: { name?: string | null; arguments?: unknown; parameters?: unknown } | null
  /** Some servers write the function's members into the call itself. */
  name?: unknown
  arguments?: unknown
  input?: unknown
}

/** Arguments as text. Some servers send the object itself instead of JSON text, some under another name. */
function textOfCalls(part: WireCall['function']): string {
  const args = part?.arguments ?? part?.parameters
  return typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args)
}

/** The calls of a message or a delta. Throws `malformed` for anything but a list of objects, or nothing. */
function wireCalls(value: unknown): WireCall[] {
  if (value === null || value === undefined) return []
  const isCall = (item: unknown) => typeof item === 'object' && item !== null
  const isOne = typeof value === 'object' && ('function' in value || 'name' in value)
  // Some servers send an object of calls by their index.
  const calls: unknown[] = isOne ? [value] : Object.values(value)
  if ((Array.isArray(value) || calls.length) && calls.every(isCall))
    return (calls as WireCall[]).map(({ name, arguments: args, input, ...call }) =>
      call.function || typeof name !== 'string' ? call : { ...call, function: { name, arguments: args ?? input } },
    )
  throw new EngineFailure('malformed', 'the tool calls of the answer are not a list of calls')
}

/**
 * Joins the pieces of calls by id, then by index, then by order. One id at several indexes is one call. Without ids,
 * one index can have several calls: a name begins a new call once the one before is complete. A piece without a name at
 * an unknown index belongs to the open call.
 */
export function createCallJoiner() {
  const calls: (ToolCall & { place: number })[] = []
  const byId = new Map<string, (typeof calls)[number]>()
  const byIndex = new Map<number, (typeof calls)[number]>()

  function callFor({ index, id, function: part }: WireCall): (typeof calls)[number] {
    const same = id ? byId.get(id) : undefined
    // Some servers give every call the same id. A name with other arguments after a complete call begins a new one.
    const isNext = same && part?.name && isWhole(same.arguments) && !repeats(same, part)
    if (same && !isNext) return same
    const known = typeof index === 'number' ? byIndex.get(index) : calls.at(-1)
    const open = known ?? (part?.name ? undefined : calls.at(-1))
    // Some servers give each piece of a call a new id, with the same name and index.
    const goesOn = open !== undefined && open === byIndex.get(index as number) && part?.name === open.name
    if (open && ((goesOn && !isWhole(open.arguments)) || !begins(id, part?.name, open))) return open
    const call = { id: '', name: '', arguments: '', place: calls.length }
    calls.push(call)
    return call
  }

  return {
    /** Adds pieces and returns the new deltas. Throws `malformed` if it is not a list of calls. */
    add(value: unknown): CallDelta[] {
      return wireCalls(value).map((piece) => {
        const call = callFor(piece)
        const { index, id, type: _type, function: part, ...extra } = piece
        if (typeof index === 'number') byIndex.set(index, call)
        call.id ||= id && !byId.has(id) ? id : ''
        if (id) byId.set(id, call)
        if (part?.name && call.name !== part.name) call.name += part.name
        // Some servers repeat the whole call at the end, and some repeat all earlier arguments with each piece.
        const sent = textOfCalls(part)
        const isAll = call.arguments.length > 2 && call.arguments.startsWith('{') && sent.startsWith(call.arguments)
        const added = repeats(call, part) ? '' : isAll ? sent.slice(call.arguments.length) : sent
        // Some servers send an empty object before the real arguments.
        const isLate = call.arguments === NOTHING && added.trimStart().startsWith('{')
        if (isLate) call.arguments = ''
        const text = call.arguments === '' ? added.replace(/^\s*\{\}\s*(?=\{)/, '') : added
        call.arguments += text
        if (Object.keys(extra).length) call.extra = { ...call.extra, ...extra }
        // An empty object may still be replaced.
        return { place: call.place, name: call.name, arguments: call.arguments === NOTHING ? '' : text }
      })
    },

    /** The complete calls. Throws `malformed` for one without a name. */
    calls(): ToolCall[] {
      return calls.map(({ place, ...call }) => {
        if (!call.name) throw new EngineFailure('malformed', 'a tool call of the answer names no tool')
        return { ...call, id: call.id || `call_${place}`, arguments: argumentsOf(call.arguments) }
      })
    },
  }
}

/** Empty arguments. Some servers send them before the real ones. */
const NOTHING = '{}'

/** Whether a piece repeats a complete call. */
const repeats = (call: ToolCall, part: WireCall['function']): boolean =>
  Boolean(part?.name) && isWhole(call.arguments) && textOfCalls(part) === call.arguments

/** Whether a piece begins a new call although `open` has its index. */
function begins(id: string | null | undefined, name: string | null | undefined, open: ToolCall): boolean {
  if (id && open.id && name) return true
  // A name may be split across pieces, before any arguments.
  return Boolean(name) && open.name !== '' && ((open.arguments !== '' && name !== open.name) || isWhole(open.arguments))
}

const isWhole = (text: string): boolean => text.trimEnd().endsWith('}') && parsedJson(text) !== undefined

/** What begins a call that is written into the text, and what ends it. Some only end with the answer. */
const WRITTEN: readonly (readonly [string, string | null])[] = [
  ['<tool_call>', '</tool_call>'],
  ['<tool_calls>', '</tool_calls>'],
  ['<function_call>', '</function_call>'],
  ['<function_calls>', '</function_calls>'],
  ['<minimax:tool_call>', '</minimax:tool_call>'],
  ['<function=', '</function>'],
  ['<invoke name=', '</invoke>'],
  ['<\uff5cDSML\uff5cfunction_calls>', '</\uff5cDSML\uff5cfunction_calls>'],
  ['<\uff5ctool\u2581calls\u2581begin\uff5c>', '<\uff5ctool\u2581calls\u2581end\uff5c>'],
  ['<\uff5ctool\u2581call\u2581begin\uff5c>', '<\uff5ctool\u2581call\u2581end\uff5c>'],
  ['<|tool_calls_section_begin|>', '<|tool_calls_section_end|>'],
  ['<|tool_call_start|>', '<|tool_call_end|>'],
  ['<|tool_call_begin|>', '<|tool_call_end|>'],
  ['<|FunctionCallBegin|>', '<|FunctionCallEnd|>'],
  ['<|action_start|>', '<|action_end|>'],
  ['<xai:function_call', '</xai:function_call>'],
  ['<TOOLCALL>', '</TOOLCALL>'],
  ['<tool_use>', '</tool_use>'],
  ['<tool_code>', '</tool_code>'],
  ['<tools>', '</tools>'],
  ['<|START_ACTION|>', '<|END_ACTION|>'],
  ['<|channel|>commentary to=', '<|call|>'],
  ['<|tool_call|>', null],
  ['<|python_tag|>', null],
  ['[TOOL_CALLS]', null],
  ['functools[', null],
]
const LONGEST = Math.max(...WRITTEN.map(([begin]) => begin.length))
const BEGINS = new RegExp(WRITTEN.map(([begin]) => RegExp.escape(begin)).join('|'), 'g')
const FIRST = new Set(WRITTEN.map(([begin]) => begin[0]))
const END_OF = new Map(WRITTEN)
/** Text that is held back at most, unless a call has begun. */
const MAX_WAITING = 200
/** Calls of one answer, and places where one may be, that are looked at. */
const MAX_CALLS = 128
/** A tool is named at most this far before its arguments. */
const MAX_BEFORE = 300

/** The beginning of an answer that is one call as bare JSON, and what may still become one. */
const BARE = /^\s*(?:\[\s*)?\{\s*"(?:name|type|function|tool|tool_calls)"\s*:/
const PERHAPS_BARE = /^\s*(?:\[\s*)?(?:\{\s*(?:"[a-z_]{0,10}"?\s*)?)?$/

/**
 * A sink that finds calls which an engine writes into its text, in the format of its chat template, and gives them as
 * calls. Servers without a parser for a model leave them there. Text of which no offered tool can be called is passed
 * on unchanged, and so is anything in a code fence, where an answer shows a call.
 */
export function readWrittenCalls({ tools = [], toolChoice, json }: EngineRequest, sink: Sink): Sink {
  if (!tools.length || toolChoice === 'none') return sink
  let shown = ''
  let waiting = ''
  let isHeld = false
  let hasCalls = false
  const calls: ToolCall[] = []

  /** What may be shown at once. Buffers the rest: blanks, what may begin a call, and everything behind its beginning. */
  function add(piece: string): string {
    waiting += piece
    if (isHeld) return ''
    isHeld = !json && shown === '' && BARE.test(waiting)
    const isShort = waiting.length <= MAX_WAITING
    if (isHeld || (!json && shown === '' && isShort && PERHAPS_BARE.test(waiting))) return ''
    const found = waiting.search(BEGINS)
    isHeld = found >= 0
    let length = isHeld ? found : Math.max(0, waiting.length - LONGEST)
    const mayBegin = (from: number) =>
      FIRST.has(waiting[from]!) && WRITTEN.some(([begin]) => begin.startsWith(waiting.slice(from)))
    while (!isHeld && length < waiting.length && !mayBegin(length)) length += 1
    const trimmed = waiting.slice(0, length).trimEnd()
    const given = length - trimmed.length > MAX_WAITING ? waiting.slice(0, length) : trimmed
    waiting = waiting.slice(given.length)
    shown += given
    return given
  }

  /** The text in the buffer. Keeps its calls. */
  function rest(): string {
    let left = waiting
    waiting = ''
    isHeld = false
    const alone = shown === '' && !json && BARE.test(left) ? callsInJson(parsedJson(left), '', tools) : []
    if (alone.length) left = ''
    calls.push(...alone)
    let text = ''
    let [from, fences, looks] = [0, fencesIn(shown), 0]
    for (const { 0: begin, index } of left.matchAll(BEGINS)) {
      if (index < from || looks++ >= MAX_CALLS) continue
      const end = END_OF.get(begin)
      const to = end ? left.indexOf(end, index + begin.length) : -1
      const next = to < 0 ? left.length : to + end!.length
      const before = left.slice(from, index)
      fences += fencesIn(before)
      const inner = fences % 2 ? [] : callsInBlock(left.slice(index, to < 0 ? undefined : to), tools)
      calls.push(...inner.slice(0, MAX_CALLS - calls.length))
      if (!inner.length) fences += fencesIn(left.slice(index, next))
      text += inner.length ? before : left.slice(from, next)
      from = next
    }
    text += left.slice(from)
    return calls.length ? withoutMarks(text).trimEnd() : text
  }

  /** The calls found, unless the answer has its calls where they belong. */
  const release = (): ToolCall[] => (hasCalls ? [] : calls.map((call, place) => ({ ...call, id: `call_${place}` })))

  return {
    streams: sink.streams,
    take(part) {
      if (part.type === 'reasoning' || ('logprobs' in part && part.logprobs)) return sink.take(part)
      if (part.type === 'text') {
        const text = add(part.text)
        return text ? sink.take({ type: 'text', text }) : undefined
      }
      hasCalls ||= part.type === 'tool-call' || part.type === 'call-delta'
      const text = rest()
      let behind = text ? sink.take({ type: 'text', text }) : undefined
      const give = (one: EnginePart) => {
        behind = behind ? behind.then(() => sink.take(one)) : sink.take(one)
      }
      const written = part.type === 'finish' ? release() : []
      for (const call of written) give({ type: 'tool-call', ...call })
      give(part.type === 'finish' && written.length ? { ...part, reason: finishWith(part.reason, written) } : part)
      return behind
    },
    ...(sink.whole && {
      whole(answer: EngineAnswer) {
        hasCalls = answer.toolCalls.length > 0
        const text = add(answer.text) + rest()
        const toolCalls = release()
        const changed = { text, toolCalls, finish: finishWith(answer.finish, toolCalls) }
        sink.whole!(toolCalls.length ? { ...answer, ...changed } : answer)
      },
    }),
  }
}

const fencesIn = (text: string): number => text.split('```').length - 1

type Tools = readonly EngineTool[]

/** The calls in one block of a chat template: in tags, in JSON, or as Python writes them. */
function callsInBlock(block: string, tools: Tools): ToolCall[] {
  const tagged = block.split(/<(?:\uff5cDSML\uff5c)?(?:function=|invoke name=|xai:function_call name=)"?/).slice(1)
  if (tagged.length) return tagged.slice(0, MAX_CALLS).flatMap((one) => callInTags(one, XML, tools))
  const [, named = ''] = block.split('<tool_call>')
  if (named.includes('<arg_key>')) return callInTags(named, GLM, tools)
  const calls: ToolCall[] = []
  let from = 0
  for (const { at, end, value } of objectsIn(block).slice(0, MAX_CALLS)) {
    calls.push(...callsInJson(value, block.slice(Math.max(from, at - MAX_BEFORE), at), tools))
    from = end
  }
  return calls.length ? calls : callsInPython(block, tools)
}

/** What begins a parameter, its value, and what ends the value. */
type Tags = readonly [RegExp | string, string, RegExp | string]
const XML: Tags = [/<(?:\uff5cDSML\uff5c)?parameter(?:=| name=)"?/, '>', /<\/(?:\uff5cDSML\uff5c)?parameter>/]
const GLM: Tags = ['<arg_key>', '<arg_value>', '</arg_value>']

/** `name>`, then each parameter with its name and its value in tags, or all in a JSON object. */
function callInTags(text: string, [begin, opened, end]: Tags, tools: Tools): ToolCall[] {
  const [head = '', ...parameters] = text.split(begin)
  const called = /^[^"'<>\s]{1,200}/.exec(head.trimStart())?.[0] ?? ''
  const tool = tools.find(({ name }) => name === toolNamed(called, tools))
  if (!tool) return []
  const inner = head.slice(head.indexOf('>') + 1).split('</')[0]!
  const whole = parameters.length ? {} : (parsedJson(inner.trim() || '{}') ?? {})
  const args = whole as Record<string, unknown>
  for (const parameter of parameters) {
    const key = /^[^"'<>\s]{1,200}/.exec(parameter)?.[0] ?? ''
    const [value = ''] = parameter.slice(parameter.indexOf(opened) + opened.length).split(end)
    args[key] = typed(value.replace(/^\n/, '').replace(/\n$/, ''), key, tool)
  }
  return [{ id: '', name: tool.name, arguments: JSON.stringify(args) }]
}

/** A value that was written without quotes, in the type that the tool's schema gives it. */
function typed(value: string, key: string, { parameters }: EngineTool): unknown {
  const { type } = (parameters.properties as Record<string, { type?: unknown }> | undefined)?.[key] ?? {}
  if (type === 'string') return value
  const found = parsedJson(PYTHON.get(value.trim()) ?? value)
  return found === undefined ? value : found
}

/** Words of Python. */
const PYTHON = new Map([
  ['None', 'null'],
  ['True', 'true'],
  ['False', 'false'],
])

/** The JSON objects in a text, with their places. A bracket that is missing at the end is added. */
function objectsIn(text: string): { at: number; end: number; value: unknown }[] {
  const found: { at: number; end: number; value: unknown }[] = []
  let [depth, at, isText] = [0, 0, false]
  for (let place = 0; place < text.length; place++) {
    const sign = text[place]
    if (depth && sign === '"') isText = !isText
    else if (isText && sign === '\\') place += 1
    else if (!isText && sign === '{' && depth++ === 0) at = place
    else if (!isText && sign === '}' && depth && --depth === 0)
      found.push({ at, end: place + 1, value: parsedJson(text.slice(at, place + 1)) })
  }
  if (depth === 1 && !isText)
    found.push({ at, end: text.length, value: parsedJson(`${withoutMarks(text.slice(at))}}`) })
  return found
}

/** The calls in a JSON value, or the call of the tool named `before` it whose arguments it is. */
function callsInJson(value: unknown, before: string, tools: Tools): ToolCall[] {
  if (Array.isArray(value)) return value.slice(0, MAX_CALLS).flatMap((one) => callsInJson(one, '', tools))
  if (typeof value !== 'object' || value === null || 'description' in value) return []
  const call = value as Record<string, unknown>
  const inner = call.tool_calls ?? call.function
  if (typeof inner === 'object') return callsInJson(inner, '', tools)
  const stated = call.name ?? call.tool_name ?? call.tool ?? inner
  const name = typeof stated === 'string' ? toolNamed(stated, tools) : null
  const args = call.arguments ?? call.parameters ?? call.args ?? call.input ?? {}
  if (name) return [{ id: '', name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }]
  const last = before.match(/[\w.:-]{1,200}/g)?.findLast((word) => toolNamed(word, tools))
  return last ? [{ id: '', name: toolNamed(last, tools)!, arguments: JSON.stringify(value) }] : []
}

/** `name(key="value", other=3)`, perhaps several in a list. */
function callsInPython(text: string, tools: Tools): ToolCall[] {
  return [...text.matchAll(/(?<![\w.])([\w.]{1,200})\(([^()]*)\)/g)]
    .slice(0, MAX_CALLS)
    .flatMap(([, called = '', inner = '']) => {
      const tool = tools.find(({ name }) => name === toolNamed(called.replace(/\.call$/, ''), tools))
      if (!tool) return []
      const pairs = inner.matchAll(/(?<!\w)(\w{1,200})\s?=\s?(?:"([^"]*)"|'([^']*)'|([^,"']*))/g)
      const args = Array.from(pairs, ([, key, one, other, bare = '']) => [key, one ?? other ?? typed(bare, key!, tool)])
      return [{ id: '', name: tool.name, arguments: JSON.stringify(Object.fromEntries(args)) }]
    })
}

/** Signs and words that engines put before the name of a tool, such as `functions.` or `mcp__library__`. */
const BEFORE_NAME = /^.*(?:[./:=\s$]|__)|^(?:functions?|tools?|proxy|mcp|default_api|api)[_-]/is

/** Control words of a chat template that ended up in a name: `find<|channel|>commentary`. */
const OF_TEMPLATE = /<\|[^|<>]{0,40}\|>(?:commentary|analysis|final|json)?/g

/** A name in lower case, without signs. */
const bare = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/**
 * The tool that a name refers to. Engines add blanks, signs and namespaces, and change the case. Null if no tool fits.
 */
export function toolNamed(name: string, tools: Tools = []): string | null {
  const has = (wanted: string) => tools.some((tool) => tool.name === wanted)
  if (has(name)) return name
  const shown = name.slice(0, MAX_NAME_CHARS).replace(OF_TEMPLATE, ' ').trim().replace(/:\d+$/, '')
  const last = shown.replace(BEFORE_NAME, '')
  const exact = [shown, last].find(has)
  if (exact) return exact
  const alike = tools.filter((tool) => [shown, last].some((one) => bare(one) === bare(tool.name)))
  return alike.length === 1 && bare(last) ? alike[0]!.name : null
}

/** Tool names have at most 64 characters. */
const MAX_NAME_CHARS = 200
