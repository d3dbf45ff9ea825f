import { inputOf, type Progress, TURN_GAP, turnsOf } from '../completions'
import type { Clock } from '../kernel/clock'
import { SSE_HEARTBEAT, sseFrame, sseJson } from '../kernel/stream'
import { conversationIn } from './responses-input'
import { bodyOf, type Item, itemIdOf, newResponseId, type ResponseBody, type ResponseInput } from './responses-schema'
import { servedBy } from './responses-servers'
import {
  type Citation,
  citationsIn,
  countsOf,
  type FoundPage,
  itemOf,
  STEPS,
  type ToolKinds,
  type ToolRun,
} from './responses-tools'

type Ended = Extract<Progress, { type: 'ended' }>
type Run = Ended['run']
type Answer = Ended['answer']
type Request = {
  input: ResponseInput
  kinds: ToolKinds
  requestId: string
  clock: Clock
  /** The response as it was begun earlier. It keeps its id. */
  begun?: ResponseBody
  /** Encrypts thoughts for a client that wants to send them back. */
  sealed?: ((thoughts: string) => string) | undefined
  /** Pictures that were made for the response, as Base64 by file id. */
  pictures?: ReadonlyMap<string, string>
  /** A stored response to be sent again. Its items keep their ids, and events up to the number `after` are left out. */
  stored?: { body: ResponseBody; after: number }
}

/** The open item. `text` is its content so far, `callId` the id of its call. */
type Open = {
  item: Item
  index: number
  text: string
  logprobs: Likely[]
  kind: 'text' | 'refusal' | 'reasoning' | 'call' | 'custom' | 'approval'
  callId: string
}

const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call'])

type Likely = Readonly<Record<string, unknown>>

export type ResponseOutput = ReturnType<typeof createOutput>

/**
 * Writes one response: its items as they are made, the frames of its stream (docs/api.md 29.6), and the whole body,
 * which the plain answer and the last frame share.
 */
export function createOutput({
  input,
  kinds,
  requestId,
  clock,
  sealed,
  pictures = new Map(),
  stored,
  begun: before = stored?.body,
}: Request) {
  const id = before?.id ?? newResponseId(clock.now())
  let made = 0
  const newId = (prefix: string): string => itemIdOf(prefix, id, ++made)
  const createdAt = before?.created_at ?? Math.floor(clock.now() / 1_000)
  // The frames of an answer in one piece are not sent, but its events are counted all the same.
  const isUnread = !input.stream && !stored
  const after = isUnread ? Number.POSITIVE_INFINITY : (stored?.after ?? -1)
  const output: Item[] = []
  const showsReasoning = Boolean(input.reasoning?.summary)
  const seen = new Map<string, string>()
  let text = ''
  let hasRefused = false
  let hasUsed = false
  const found: FoundPage[] = []
  let hasReasoned = false
  let open: Open | null = null
  let sequence = 0
  let hasBegun = false
  let run: Run | null = null
  let whole: { body: ResponseBody; frames: string } | null = null

  const frame = (type: string, data: object): string => {
    const number = sequence++
    return number > after ? sseFrame({ event: type, data: { type, sequence_number: number, ...data } }) : ''
  }

  return {
    id,
    frame: framed,
    end,
    failed,
    replay,
    opening: begun,
    queued: () => bodyNow('queued'),
    lastSequence: () => sequence - 1,
  }

  /** The frames of one step. */
  function framed(progress: Progress): string {
    switch (progress.type) {
      case 'began':
        run = progress.run
        return begun()
      case 'text':
        return wrote('text', progress.text, progress.logprobs)
      case 'refusal':
        return wrote('refusal', progress.text)
      case 'reasoning':
        return reasoned(progress.text)
      case 'call':
        return called(progress.id, progress.name, progress.arguments)
      case 'tool-ended':
        return used(progress)
      case 'ended':
        return end(progress.run, progress.answer).frames
      default:
        return SSE_HEARTBEAT
    }
  }

  function begun(): string {
    if (hasBegun) return ''
    hasBegun = true
    if (isUnread) {
      sequence += 2
      return ''
    }
    const response = { ...bodyNow('in_progress'), output: [], usage: null, svc_metadata: null }
    return frame('response.created', { response }) + frame('response.in_progress', { response })
  }

  function at({ item, index }: Open) {
    return { item_id: item.id, output_index: index }
  }

  function began(item: Item, kind: Open['kind'], callId = ''): string {
    const before = closed()
    const own = stored?.body.output[output.length]
    open = {
      item: { ...item, ...(own ? { id: own.id } : {}), status: 'in_progress' },
      index: output.length,
      text: '',
      logprobs: [],
      kind,
      callId,
    }
    output.push(open.item)
    if (kind === 'reasoning' || kind === 'approval') delete open.item.status
    return before + frame('response.output_item.added', { output_index: open.index, item: open.item })
  }

  function wrote(kind: 'text' | 'refusal', added: string, likely: readonly Likely[] = []): string {
    // The text of a turn after another item is a separate message, so it needs no gap before it.
    const isParted = open?.kind !== kind && text !== '' && !stored && added.startsWith(TURN_GAP)
    const piece = isParted ? added.slice(TURN_GAP.length) : added
    if (isParted && !piece) return ''
    let frames = ''
    if (open?.kind !== kind) {
      frames = began({ id: newId('msg'), type: 'message', role: 'assistant', content: [] }, kind)
      const part = kind === 'text' ? textPart('') : { type: 'refusal', refusal: '' }
      frames += frame('response.content_part.added', { ...at(open!), content_index: 0, part })
    }
    open!.text += piece
    if (kind === 'refusal') {
      hasRefused = true
      return frames + frame('response.refusal.delta', { ...at(open!), content_index: 0, delta: piece })
    }
    text += piece
    const { item, index } = open!
    open!.logprobs.push(...likely)
    if (likely.length)
      return (
        frames + frame('response.output_text.delta', { ...at(open!), content_index: 0, delta: piece, logprobs: likely })
      )
    if (sequence <= after) return frames + frame('', {})
    // Written out, because most frames of a stream are of this kind.
    return `${frames}event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${sequence++},"item_id":"${item.id}","output_index":${index},"content_index":0,"delta":${sseJson(piece)},"logprobs":[]}\n\n`
  }

  function reasoned(piece: string): string {
    hasReasoned = true
    if (!showsReasoning && !sealed) return SSE_HEARTBEAT
    let frames = ''
    if (open?.kind !== 'reasoning') {
      frames = began({ id: newId('rs'), type: 'reasoning', summary: [] }, 'reasoning')
      if (!showsReasoning) {
        open!.text = piece
        return frames
      }
      const part = { type: 'summary_text', text: '' }
      frames += frame('response.reasoning_summary_part.added', { ...at(open!), summary_index: 0, part })
    }
    open!.text += piece
    if (!showsReasoning) return SSE_HEARTBEAT
    return frames + frame('response.reasoning_summary_text.delta', { ...at(open!), summary_index: 0, delta: piece })
  }

  function called(callId: string, name: string, piece: string): string {
    const kind = kinds.get(name)
    const isCustom = kind?.custom === true
    const served = kind ? null : servedBy(name, input.tools ?? [])
    let frames = ''
    if (served && open?.callId !== callId) {
      const asking = { type: 'mcp_approval_request', server_label: served.label, name: served.tool, arguments: '' }
      frames = began({ id: newId('mcpr'), ...asking }, 'approval', callId)
    } else if (open?.callId !== callId) {
      const namespace = kind?.namespace ? { namespace: kind.namespace } : {}
      const named = { call_id: callId, name: kind?.name ?? name, ...namespace }
      frames = isCustom
        ? began({ id: newId('ctc'), type: 'custom_tool_call', ...named, input: '' }, 'custom', callId)
        : began({ id: newId('fc'), type: 'function_call', ...named, arguments: '' }, 'call', callId)
    }
    open!.text += piece
    seen.set(callId, open!.text)
    // The input of a custom tool is one member of the arguments, which is only known when they are complete.
    if (isCustom || served || !piece) return frames
    return frames + frame('response.function_call_arguments.delta', { ...at(open!), delta: piece })
  }

  /** A call of a tool that this server ran, as one item. Server tools only show if the request names them. */
  function used(use: ToolRun): string {
    hasUsed = true
    const item = itemOf(use, input.tools ?? [], pictures, newId)
    if (!item) return SSE_HEARTBEAT
    const { results } = (use.result ?? {}) as { results?: FoundPage[] }
    if (Array.isArray(results)) found.push(...results)
    if (item.type === 'web_search_call' && input.include?.includes('web_search_call.action.sources'))
      item.action = { ...(item.action as object), sources: (results ?? []).map(({ url }) => ({ type: 'url', url })) }
    return ran(item)
  }

  function ran(item: Item): string {
    const before = closed()
    const index = output.length
    const place = { item_id: item.id, output_index: index }
    output.push(item)
    const steps = STEPS[item.type as string] ?? []
    return (
      before +
      frame('response.output_item.added', {
        output_index: index,
        item: 'status' in item ? { ...item, status: 'in_progress' } : item,
      }) +
      steps.map((step) => frame(`response.${item.type}.${step}`, place)).join('') +
      frame('response.output_item.done', { output_index: index, item })
    )
  }

  /** Ends the open item. */
  function closed(status: 'completed' | 'incomplete' = 'completed'): string {
    if (!open) return ''
    const { item, kind, text: made, logprobs } = open
    const place = at(open)
    const index = open.index
    if (kind !== 'reasoning' && kind !== 'approval') item.status = status
    open = null
    const done = () => frame('response.output_item.done', { output_index: index, item })
    switch (kind) {
      case 'text':
      case 'refusal': {
        const own = stored?.body.output[index]?.content as Item[] | undefined
        const annotations = (own?.[0]?.annotations as Citation[] | undefined) ?? citationsIn(made, found)
        const part = kind === 'text' ? { ...textPart(made), annotations, logprobs } : { type: 'refusal', refusal: made }
        item.content = [part]
        const cited = kind === 'text' ? annotations : []
        return (
          cited
            .map((annotation, annotation_index) =>
              frame('response.output_text.annotation.added', {
                ...place,
                content_index: 0,
                annotation_index,
                annotation,
              }),
            )
            .join('') +
          (kind === 'text'
            ? frame('response.output_text.done', { ...place, content_index: 0, text: made, logprobs })
            : frame('response.refusal.done', { ...place, content_index: 0, refusal: made })) +
          frame('response.content_part.done', { ...place, content_index: 0, part }) +
          done()
        )
      }
      case 'reasoning': {
        const sent = sealed?.(made) ?? stored?.body.output[index]?.encrypted_content
        if (sent !== undefined) item.encrypted_content = sent
        if (!showsReasoning || (stored && !made)) return done()
        const part = { type: 'summary_text', text: made }
        item.summary = [part]
        return (
          frame('response.reasoning_summary_text.done', { ...place, summary_index: 0, text: made }) +
          frame('response.reasoning_summary_part.done', { ...place, summary_index: 0, part }) +
          done()
        )
      }
      case 'custom': {
        item.input = inputOf(made)
        return (
          frame('response.custom_tool_call_input.delta', { ...place, delta: item.input }) +
          frame('response.custom_tool_call_input.done', { ...place, input: item.input }) +
          done()
        )
      }
      case 'approval':
        item.arguments = made
        return done()
      case 'call':
        item.arguments = made
        return frame('response.function_call_arguments.done', { ...place, name: item.name, arguments: made }) + done()
    }
  }

  /** The whole response of an answer, and the frames that its stream still lacks. Returns the same result each time. */
  function end(ended: Run, answer: Answer): { body: ResponseBody; frames: string } {
    if (whole) return whole
    const isPlain = run === null
    run = ended
    let frames = begun()
    if (isPlain)
      for (const { tools, reasoning, text: piece } of turnsOf(answer)) {
        for (const use of tools) frames += used(use)
        if (reasoning) frames += reasoned(reasoning)
        if (piece && answer.refusal === null)
          frames += (text && wrote('text', TURN_GAP)) + wrote('text', piece, answer.spoken ? [] : answer.logprobs)
      }
    if (answer.reasoning && !hasReasoned && (showsReasoning || sealed)) frames += reasoned(answer.reasoning)
    if (!hasUsed) for (const use of answer.toolsUsed) frames += used(use)
    if (answer.refusal !== null) {
      if (!hasRefused) frames += wrote('refusal', answer.refusal)
    } else if (!text && (answer.content || !answer.toolCalls.length)) frames += wrote('text', answer.content)
    for (const call of answer.toolCalls) {
      const before = seen.get(call.id)
      const rest = call.arguments.slice(before?.length ?? 0)
      if (before === undefined || (rest && open?.callId === call.id)) frames += called(call.id, call.name, rest)
    }
    const reason =
      answer.finish === 'length' ? 'max_output_tokens' : answer.finish === 'content-filter' ? 'content_filter' : null
    const status = reason === null ? 'completed' : 'incomplete'
    frames += closed(status)
    const body = bodyNow(status)
    if (reason === null) body.completed_at = Math.floor(clock.now() / 1_000)
    else body.incomplete_details = { reason }
    Object.assign(body, countsOf({ type: 'ended', run: ended, answer }))
    frames += frame(`response.${status}`, { response: body })
    whole = { body, frames }
    return whole
  }

  /** The response of a run that failed after its stream began. Its items remain, as incomplete. */
  function failed(error: { code: string; message: string; type: string }): { body: ResponseBody; frames: string } {
    if (whole) return whole
    const frames = begun() + closed('incomplete')
    const body: ResponseBody = { ...bodyNow('failed'), error }
    whole = { body, frames: frames + frame('response.failed', { response: body }) }
    return whole
  }

  /** The frames of the stored response. The last frame keeps its original number. */
  function replay(last: number): string {
    const { body } = stored!
    let frames = begun()
    for (const item of body.output) {
      const [part] = (item.content ?? item.summary ?? []) as { text?: string; refusal?: string; logprobs?: Likely[] }[]
      if (item.type === 'reasoning')
        frames += part ? reasoned(part.text ?? '') : began({ ...item, summary: [] }, 'reasoning')
      else if (item.type !== 'message' && !CALLS.has(item.type)) frames += ran(item)
      else if (item.type === 'message')
        frames +=
          part?.refusal === undefined ? wrote('text', part?.text ?? '', part?.logprobs) : wrote('refusal', part.refusal)
      else
        frames += called(
          String(item.call_id),
          String(item.name),
          String(item.arguments ?? JSON.stringify({ input: item.input })),
        )
      frames += closed(item.status === 'incomplete' ? 'incomplete' : 'completed')
    }
    // Clients know no event for a cancelled response. Its status shows the cancellation.
    const type = `response.${body.status === 'cancelled' ? 'failed' : body.status}`
    return frames + sseFrame({ event: type, data: { type, sequence_number: last, response: body } })
  }

  function bodyNow(status: ResponseBody['status']): ResponseBody {
    const conversation = conversationIn(input)
    return bodyOf(input, { id, createdAt, status, output, model: run?.model.id, conversation, requestId })
  }
}

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
