import type { Clock } from '../kernel/clock'
import { SSE_DONE, SSE_HEARTBEAT, sseFrame, sseJson } from '../kernel/stream'
import type { StoredAnswer } from './cache'
import {
  activeSkills,
  chatIdOf,
  chatMetadata,
  chatUsage,
  extrasOf,
  fingerprintOf,
  finishReason,
  likelyOf,
  toSentCall,
  usageOf,
} from './present'
import type { Progress, Run } from './run'

/** Turns an event into the text of frames. The edge writes each text as one chunk. */
export type Framer = (progress: Progress) => string

/** Frames and heartbeat of the native stream. The heartbeat names the current iteration (docs/api.md 3). */
export function nativeFramer(): { frame: Framer; heartbeat: (elapsedMs: number) => string } {
  let iteration = 1
  return {
    frame(progress) {
      if (progress.type === 'thinking') iteration = progress.iteration
      return nativeFrame(progress)
    },
    heartbeat: (elapsedMs) => thinkingFrame(iteration, elapsedMs),
  }
}

const thinkingFrame = (iteration: number, elapsedMs: number): string =>
  sseFrame({ event: 'thinking', data: { iteration, elapsed_ms: elapsedMs } })

const nativeFrame: Framer = (progress) => {
  switch (progress.type) {
    case 'began':
      return (
        sseFrame({ event: 'meta', data: metaOf(progress) }) +
        (progress.run.active.skills.length
          ? sseFrame({ event: 'skills', data: { active: activeSkills(progress.run) } })
          : '') +
        (progress.run.resolvedMode === 'genui'
          ? sseFrame({ event: 'genui_meta', data: { library: progress.run.request.voice.componentLibrary, tools: [] } })
          : '')
      )
    case 'text':
    case 'refusal':
      return `event: token\ndata: {"token":${sseJson(progress.text)}}\n\n`
    case 'reasoning':
    case 'call':
      return ''
    case 'thinking':
      return thinkingFrame(progress.iteration, progress.elapsedMs)
    case 'tool-began':
      return sseFrame({ event: 'tool', data: { ...withoutType(progress), status: 'running' } })
    case 'tool-ended':
      return sseFrame({ event: 'tool', data: withoutType(progress) })
    case 'ended':
      // Artifacts come at the end, because they are only known once the answer is complete.
      return (
        progress.answer.artifacts.map((artifact) => sseFrame({ event: 'artifact', data: artifact })).join('') +
        sseFrame({ event: 'done', data: doneOf(progress.run, progress.answer) })
      )
  }
}

const withoutType = <T extends { type: string }>({ type: _, ...rest }: T): Omit<T, 'type'> => rest

function metaOf({ run, id }: Extract<Progress, { type: 'began' }>) {
  return {
    id,
    mode: run.request.mode,
    resolved_mode: run.resolvedMode,
    model: run.model,
    tools: [],
    artifacts: [],
    conversation_id: run.conversationId,
    request_id: run.call.requestId,
    routing: run.routing,
    skills: activeSkills(run),
  }
}

const doneOf = (run: Run, answer: StoredAnswer) => ({
  id: answer.id,
  content: answer.content,
  follow_ups: answer.followUps,
  usage: usageOf(run, answer),
  conversation_id: run.conversationId,
  request_id: run.call.requestId,
  tools_used: answer.toolsUsed,
  artifacts: answer.artifacts,
  metadata: run.request.metadata,
  ...(run.isCached ? { _cached: true } : {}),
  ...extrasOf(answer, run),
})

/** The chat-completions stream (docs/api.md 4): one id and one `created` throughout, `[DONE]` last. */
export function chatFramer(clock: Clock, includeUsage: boolean): Framer {
  const created = Math.floor(clock.now() / 1000)
  let id = ''
  let model = ''
  const chunk = (choices: object[], rest: object = {}) =>
    sseFrame({
      data: {
        id,
        object: 'chat.completion.chunk',
        created,
        model,
        service_tier: 'default',
        choices,
        ...rest,
      },
    })
  const delta = (change: object, finish: string | null = null) => [{ index: 0, delta: change, finish_reason: finish }]

  /** Prefix and suffix of the text in a text chunk, computed once because most chunks are text. */
  let head = ''
  let tail = ''

  /** The arguments of each call that were sent so far. */
  const shown = new Map<string, string>()
  let hasRefused = false
  let shows = true
  let customs: Run['request']['customs']
  let callsFunction = false

  /** A piece of a call. The first piece has the id and name. */
  function callChunk(id: string, name: string, piece: string, extra: object = {}): string {
    const before = shown.get(id)
    shown.set(id, (before ?? '') + piece)
    const index = [...shown.keys()].indexOf(id)
    const head = before === undefined ? { id, type: 'function' } : {}
    const named = before === undefined ? { name } : {}
    if (callsFunction) return chunk(delta({ function_call: { ...named, arguments: piece } }))
    return chunk(delta({ tool_calls: [{ index, ...head, function: { ...named, arguments: piece }, ...extra }] }))
  }

  /** The part of a whole call that was not sent yet. */
  function restOf(call: StoredAnswer['toolCalls'][number]): string {
    const { id } = call
    const { extra_content, ...sent } = toSentCall(call, customs)
    const extra = extra_content ? { extra_content } : {}
    if ('custom' in sent) {
      shown.set(id, '')
      return chunk(delta({ tool_calls: [{ index: shown.size - 1, ...sent, ...extra }] }))
    }
    const before = shown.get(id)
    const piece = call.arguments.slice(before?.length ?? 0)
    return before !== undefined && !piece && !call.extra ? '' : callChunk(id, call.name, piece, extra)
  }

  return (progress) => {
    switch (progress.type) {
      case 'began': {
        id = chatIdOf(progress.id)
        model = progress.run.model.id
        shows = progress.run.request.reasoning?.shows ?? true
        customs = progress.run.request.customs
        callsFunction = progress.run.request.callsFunction ?? false
        // A frame with text is one without, split at its last empty string.
        const empty = chunk(delta({ content: '' }))
        const at = empty.lastIndexOf('""')
        ;[head, tail] = [empty.slice(0, at), empty.slice(at + 2)]
        return chunk(delta({ role: 'assistant', content: '' }))
      }
      case 'text':
        if (!progress.logprobs) return head + sseJson(progress.text) + tail
        return chunk([{ ...delta({ content: progress.text })[0], logprobs: likelyOf(progress.logprobs) }])
      case 'reasoning':
        return shows ? chunk(delta({ reasoning_content: progress.text, reasoning: progress.text })) : ''
      case 'refusal':
        hasRefused = true
        return chunk(delta({ refusal: progress.text }))
      case 'call':
        // The input of a custom tool is one member of the arguments, which is only known when they are complete.
        return customs?.has(progress.name) ? SSE_HEARTBEAT : callChunk(progress.id, progress.name, progress.arguments)
      // This format has no chunk for the server's own tools. A comment keeps the connection alive.
      case 'thinking':
      case 'tool-began':
      case 'tool-ended':
        return SSE_HEARTBEAT
      case 'ended': {
        const { run, answer } = progress
        const refusal = answer.refusal !== null && !hasRefused ? chunk(delta({ refusal: answer.refusal })) : ''
        const calls = answer.toolCalls.map(restOf).join('')
        const fingerprint = fingerprintOf(answer)
        const last = chunk(delta({}, finishReason(answer, run.request)), {
          ...(fingerprint ? { system_fingerprint: fingerprint } : {}),
          svc_metadata: chatMetadata(run, answer),
        })
        const counted = includeUsage ? chunk([], { usage: chatUsage(run, answer) }) : ''
        return calls + refusal + last + counted + SSE_DONE
      }
    }
  }
}
