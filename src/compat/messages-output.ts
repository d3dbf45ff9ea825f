import { chatMetadata, type Progress, TURN_GAP, turnsOf } from '../completions'
import { randomBase62, sha256Hex } from '../kernel/crypto'
import { parsedJson } from '../kernel/json'
import { sseFrame } from '../kernel/stream'
import { messageIdOf, toolUseId } from './messages-input'
import type { Block, MessageBody, MessageUsage, STOP_REASONS } from './messages-schema'

type Ended = Extract<Progress, { type: 'ended' }>
type Run = Ended['run']
type Answer = Ended['answer']

/**
 * Options for writing messages. `windowOf`: the engine's limit for prompt and answer together, in tokens. `uncited`: the
 * members of a text without citations.
 */
export type Form = { omitsThoughts: boolean; windowOf(engineId: string): number; uncited?: { citations?: null } }

const UNCITED = { citations: null }

/** The whole message (docs/api.md 30.3). */
export function toMessage(run: Run, answer: Answer, form: Form): MessageBody {
  const warnings: string[] = []
  return {
    id: messageIdOf(answer.id),
    type: 'message',
    role: 'assistant',
    model: answer.model.id,
    content: blocksOf(run, answer, form, warnings),
    ...stopOf(run, answer, form.windowOf),
    stop_details: null,
    container: null,
    usage: usageOf(answer, run),
    svc_metadata: metadataOf(run, answer, warnings),
    request_id: run.call.requestId,
  }
}

function blocksOf(run: Run, answer: Answer, form: Form, warnings: string[]): Block[] {
  const { omitsThoughts, uncited = UNCITED } = form
  const shows = run.request.reasoning?.shows
  const blocks: Block[] = []
  /** Joins consecutive pieces of text into one block, and consecutive thoughts likewise. */
  const add = (type: 'text' | 'thinking', piece: string, gap: string) => {
    const last = blocks.at(-1)
    if (!piece) return
    if (last?.type === type) last[type] = `${last[type]}${gap}${piece}`
    else blocks.push({ type, [type]: piece, ...(type === 'text' ? uncited : {}) })
  }
  for (const { tools, reasoning, text } of turnsOf(answer)) {
    blocks.push(...tools.flatMap((use) => serverBlocks(run, use, uncited)))
    if (shows) add('thinking', reasoning, '')
    add('text', text, TURN_GAP)
  }
  for (const block of blocks)
    if (block.type === 'thinking')
      Object.assign(block, {
        signature: signatureOf(String(block.thinking)),
        ...(omitsThoughts ? { thinking: '' } : {}),
      })
  const beside = refusalBeside(answer)
  const calls = answer.toolCalls.map(({ id, name, arguments: args }) => ({
    type: 'tool_use',
    id: toolUseId(id),
    name,
    input: inputOf(args, name, warnings),
  }))
  return [...blocks, ...(beside ? [{ type: 'text', text: beside, ...uncited }] : []), ...calls]
}

type Use = Pick<Answer['toolsUsed'][number], 'name' | 'status' | 'arguments' | 'result'>

/** A call of a tool that the request names and this server ran, with its result. Empty for other tools. */
function serverBlocks(run: Run, use: Use, uncited: Form['uncited']): Block[] {
  if (!run.request.hosted?.tools.some(({ name }) => name === use.name)) return []
  const { name, status, arguments: input = {}, result } = use
  const id = `srvtoolu_${randomBase62(24)}`
  const found = (result ?? {}) as { results?: Block[]; url?: string; title?: string | null; text?: string }
  const failure = { type: `${name}_tool_result_error`, error_code: 'unavailable' }
  const pages = (found.results ?? []).map(({ url, title, snippet }) => ({
    type: 'web_search_result',
    url,
    title,
    encrypted_content: String(snippet ?? ''),
    page_age: null,
  }))
  const page = {
    type: 'web_fetch_result',
    url: found.url,
    retrieved_at: null,
    content: {
      type: 'document',
      title: found.title ?? null,
      ...uncited,
      source: { type: 'text', media_type: 'text/plain', data: found.text ?? '' },
    },
  }
  const content = status !== 'success' ? failure : name === 'web_search' ? pages : page
  return [
    { type: 'server_tool_use', id, name, input },
    { type: `${name}_tool_result`, tool_use_id: id, content },
  ]
}

/** Why the content does not fit the requested format. An engine's refusal is already in the content. */
const refusalBeside = ({ refusal, content }: Answer): string => (refusal === null || refusal === content ? '' : refusal)

/** Clients only send thoughts back with a signature. This server does not check it. */
const signatureOf = (thoughts: string): string => sha256Hex(thoughts)

function inputOf(args: string, name: string, warnings: string[]): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(args)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The warning is added below.
  }
  warnings.push(`The arguments of ${name} are no JSON object: ${args.slice(0, 1_000)}`)
  return {}
}

/** Share of a window that counts as full, because engines keep some tokens for themselves. */
const FULL = 0.9

function stopOf(
  run: Run,
  answer: Answer,
  windowOf: Form['windowOf'],
): { stop_reason: (typeof STOP_REASONS)[number]; stop_sequence: string | null } {
  const { finish, refusal, toolCalls, stoppedBy } = answer
  if (finish === 'content-filter' || refusal !== null) return { stop_reason: 'refusal', stop_sequence: null }
  if (toolCalls.length) return { stop_reason: 'tool_use', stop_sequence: null }
  if (stoppedBy !== undefined) return { stop_reason: 'stop_sequence', stop_sequence: stoppedBy }
  if (finish !== 'length') return { stop_reason: 'end_turn', stop_sequence: null }
  const isFull =
    answer.completionTokens < run.maxOutputTokens &&
    answer.promptTokens + answer.completionTokens >= FULL * windowOf(run.engineId)
  return { stop_reason: isFull ? 'model_context_window_exceeded' : 'max_tokens', stop_sequence: null }
}

type Counts = Pick<
  Answer,
  'promptTokens' | 'completionTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'reasoningTokens'
>

/** The three counts of the prompt do not overlap. Their sum is the prompt. */
function usageOf(counts: Counts & Partial<Pick<Answer, 'toolsUsed'>>, run: Run): MessageUsage {
  const { promptTokens, completionTokens, toolsUsed = [] } = counts
  const { cachedTokens: read = 0, cacheWriteTokens: written = 0, reasoningTokens: thought = 0 } = counts
  const uses = (name: string) => toolsUsed.filter((use) => use.name === name).length
  return {
    input_tokens: Math.max(0, promptTokens - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { thinking_tokens: thought },
    server_tool_use: run.request.hosted
      ? { web_search_requests: uses('web_search'), web_fetch_requests: uses('web_fetch') }
      : null,
    service_tier: 'standard',
  }
}

function metadataOf(run: Run, answer: Answer, more: readonly string[]): MessageBody['svc_metadata'] {
  const { artifacts: _, follow_ups: __, job: ___, warnings: own = [], ...metadata } = chatMetadata(run, answer)
  // Clients of this format know the setting by another name.
  const warnings = [...own.map((one) => one.replace(/\breasoning_effort\b/, 'thinking')), ...more]
  return { ...metadata, ...(warnings.length ? { warnings } : {}) }
}

type Kind = 'text' | 'thinking' | 'tool_use' | 'server'

const event = (type: string, members: object = {}): string => sseFrame({ event: type, data: { type, ...members } })

/** Frame that keeps the connection alive. */
export const PING = event('ping')

/** Frames of a stream (docs/api.md 30.3). Blocks are counted from 0, and one ends before the next begins. */
export function messageFramer({ omitsThoughts, windowOf }: Form): (progress: Progress) => string {
  let open: { kind: Kind; id: string; text: string } | null = null
  let index = -1
  let shows = false
  let hasSpoken = false
  let began: Run | null = null
  /** Pieces of calls that arrived while another call was open, by id. */
  const waiting = new Map<string, { name: string; text: string }>()
  const closed = new Set<string>()

  function begin(kind: Kind, content_block: object, id = ''): string {
    const before = close()
    index += 1
    open = { kind, id, text: '' }
    return before + event('content_block_start', { index, content_block })
  }

  const delta = (change: object): string => event('content_block_delta', { index, delta: change })

  function close(): string {
    if (!open) return ''
    const { kind, id, text } = open
    open = null
    if (kind === 'tool_use') closed.add(id)
    const signed = kind === 'thinking' ? delta({ type: 'signature_delta', signature: signatureOf(text) }) : ''
    return signed + event('content_block_stop', { index })
  }

  function say(added: string): string {
    // The text of a turn after another block starts its own block, so it needs no gap before it.
    const isParted = open?.kind !== 'text' && hasSpoken && added.startsWith(TURN_GAP)
    const text = isParted ? added.slice(TURN_GAP.length) : added
    if (!text) return ''
    hasSpoken = true
    const start = open?.kind === 'text' ? '' : begin('text', { type: 'text', text: '', citations: null })
    return start + delta({ type: 'text_delta', text })
  }

  function think(thinking: string): string {
    const start = open?.kind === 'thinking' ? '' : begin('thinking', { type: 'thinking', thinking: '', signature: '' })
    open!.text += thinking
    return start + (omitsThoughts ? '' : delta({ type: 'thinking_delta', thinking }))
  }

  /** A piece of a call. Another call waits until the open one is complete, because blocks must not interleave. */
  function call(id: string, name: string, piece: string): string {
    if (open?.kind === 'tool_use' && open.id !== id && parsedJson(open.text) === undefined) {
      const known = waiting.get(id) ?? { name, text: '' }
      waiting.set(id, { name, text: known.text + piece })
      return ''
    }
    const held = waiting.get(id)?.text ?? ''
    waiting.delete(id)
    const start =
      open?.kind === 'tool_use' && open.id === id
        ? ''
        : begin('tool_use', { type: 'tool_use', id: toolUseId(id), name, input: {} }, id)
    const text = held + piece
    open!.text += text
    return start + (text ? delta({ type: 'input_json_delta', partial_json: text }) : '')
  }

  /** The part of a whole call that was not sent yet. */
  function restOf({ id, name, arguments: args }: Answer['toolCalls'][number]): string {
    if (closed.has(id)) return ''
    const shown = open?.id === id ? open.text : ''
    if (shown) return args.length > shown.length ? call(id, name, args.slice(shown.length)) : ''
    waiting.delete(id)
    const start = open?.id === id ? '' : begin('tool_use', { type: 'tool_use', id: toolUseId(id), name, input: {} }, id)
    open!.text = args
    return start + delta({ type: 'input_json_delta', partial_json: args })
  }

  return (progress) => {
    switch (progress.type) {
      case 'began': {
        began = progress.run
        const { model, promptTokens, request } = began
        shows = request.reasoning?.shows ?? false
        const message = {
          id: messageIdOf(progress.id),
          type: 'message',
          role: 'assistant',
          model: model.id,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          container: null,
          usage: usageOf({ promptTokens, completionTokens: 1 }, began),
        }
        return event('message_start', { message }) + PING
      }
      case 'text':
      case 'refusal':
        return progress.text ? say(progress.text) : ''
      case 'reasoning':
        return shows ? think(progress.text) : ''
      case 'call':
        return call(progress.id, progress.name, progress.arguments)
      case 'thinking':
      case 'tool-began':
        return PING
      case 'tool-ended':
        return (
          serverBlocks(began!, progress, UNCITED)
            .map((block) => begin('server', block) + close())
            .join('') || PING
        )
      case 'ended': {
        const { run, answer } = progress
        const calls = answer.toolCalls.map(restOf).join('')
        const beside = refusalBeside(answer)
        const refusal = beside ? begin('text', { type: 'text', text: '', citations: null }) + say(beside) : ''
        return (
          calls +
          refusal +
          close() +
          event('message_delta', {
            delta: stopOf(run, answer, windowOf),
            usage: usageOf(answer, run),
            svc_metadata: metadataOf(run, answer, []),
          }) +
          event('message_stop')
        )
      }
    }
  }
}
