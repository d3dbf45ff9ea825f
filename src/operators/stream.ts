import { type Call, type OperatorCaller, seesContent } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import { redact } from '../kernel/redact'
import { createPipe, ReaderLeft, SSE_HEADERS, SSE_HEARTBEAT, sseFrame } from '../kernel/stream'
import { holderIdOf } from '../widgets'
import { type Snapshots, type StreamEvent, type StreamQuery, TOPIC_WORDS, type TopicName } from './schema-stream'
import { createTopics, type TopicDeps } from './topics'

type Deps = TopicDeps & {
  clock: Clock
  log: Log
  stopping: AbortSignal
  facts(): { version: string }
  /** Whether the key of a reader is still valid. */
  isStill(caller: OperatorCaller): Promise<boolean>
}
type By = Call<OperatorCaller>

/** How often a topic is read while someone watches it. */
const LOOK_MS = 1_000
const HEARTBEAT_MS = 10_000
/** Reading for the dashboard has no side effects, so it uses a fixed caller. */
const READER: By = {
  caller: { type: 'operator', role: 'viewer', name: 'dashboard', transport: 'socket', reason: null },
  requestId: 'req_dashboard',
  route: 'GET /ops/v1/stream',
  signal: new AbortController().signal,
}

/** Live data of the operator dashboard (docs/operating.md 3.8). */
export function createStream(deps: Deps) {
  const { clock, log, stopping } = deps
  const topics = createTopics(deps, READER)
  return { snapshot, open }

  /** The current state of each topic. */
  async function snapshot({ caller }: By, query: StreamQuery): Promise<Snapshots> {
    const names = namesOf(query)
    const states = await Promise.all(names.map((name) => stateFor(caller, name, query.most)))
    return { topics: names.map((topic, at) => ({ topic, ...states[at]!, at: iso(clock.now()) })) }
  }

  /** The state of a topic, redacted for operators who may not see content. */
  async function stateFor({ role }: OperatorCaller, name: TopicName, max: number | undefined): Promise<Plain> {
    const { facts, rows } = await topics[name](max)
    const { members, role: besides } = TOPIC_WORDS[name]
    const state = { facts, rows: [...rows] }
    return seesContent(role) || role === besides ? state : (redact(state, members) as Plain)
  }

  /**
   * Server-sent events: a snapshot of each topic, then its changes, until the reader disconnects or loses access, or
   * the server stops.
   */
  function open({ signal, caller }: By, query: StreamQuery): Response {
    const pipe = createPipe()
    const hello: StreamEvent = {
      type: 'hello',
      operator: caller.name,
      role: caller.role,
      version: deps.facts().version,
      holder: holderIdOf(caller),
    }
    void pipe.write(sseFrame({ event: 'hello', data: hello }))
    const over = AbortSignal.any([signal, stopping])
    const ended = follow(query, pipe.write, { over, caller })
    signal.addEventListener('abort', pipe.leave, { once: true })
    ended
      .catch((error: unknown) => {
        if (!(error instanceof ReaderLeft)) log.error(errorFields(error), 'the stream of an operator was interrupted')
      })
      .finally(pipe.end)
    return new Response(pipe.read(), { headers: SSE_HEADERS })
  }

  type Write = (text: string) => void | Promise<void>

  type Reading = { over: AbortSignal; caller: OperatorCaller }

  async function follow(query: StreamQuery, write: Write, { over, caller }: Reading): Promise<void> {
    const names = namesOf(query)
    const trackers = new Map(names.map((name) => [name, createNotified(name)]))
    let writtenAt = clock.monotonic()
    // A failed access check does not end the stream, because without a database nothing can be read anyway.
    while (!over.aborted && (await deps.isStill(caller).catch(() => true))) {
      for (const name of names) {
        const event = await next(caller, name, { notice: trackers.get(name)!, most: query.most })
        if (!event || over.aborted) continue
        writtenAt = clock.monotonic()
        await write(sseFrame({ event: event.type, data: event, id: event.seq }))
      }
      if (clock.monotonic() - writtenAt >= HEARTBEAT_MS) {
        writtenAt = clock.monotonic()
        await write(SSE_HEARTBEAT)
      }
      await clock.sleep(LOOK_MS, over)
    }
  }

  type TopicState = { notice: ReturnType<typeof createNotified>; most: number | undefined }

  async function next(
    caller: OperatorCaller,
    topic: TopicName,
    { notice, most: max }: TopicState,
  ): Promise<TopicEvent | null> {
    const at = iso(clock.now())
    try {
      return notice.changed(await stateFor(caller, topic, max), at)
    } catch (error) {
      const known = error instanceof AppError
      if (!known) log.warn({ topic, ...errorFields(error) }, 'a topic of the dashboard could not be read')
      return notice.failed(known ? error.message : 'It could not be read.', at)
    }
  }
}

const namesOf = ({ topics }: StreamQuery): TopicName[] => [...new Set([topics].flat())]

/** The state of a topic as plain JSON. */
type Plain = { facts: Record<string, unknown>; rows: Record<string, unknown>[] }

type TopicEvent = Exclude<StreamEvent, { type: 'hello' }>
/** Remembers the state of a topic that a reader has, and computes what changed. */
function createNotified(topic: TopicName) {
  let [seq, facts, order, trouble] = [0, '', '', '']
  let rows = new Map<string, string>()

  function changed({ facts: found, rows: all }: Plain, at: string): TopicEvent | null {
    const isFirst = seq === 0 || trouble !== ''
    const [newFacts, ids] = [JSON.stringify(found), all.map(({ id }) => String(id))]
    const newOrder = ids.join(' ')
    const texts = new Map(all.map((row) => [String(row.id), JSON.stringify(row)]))
    const fresh = all.filter(({ id }) => rows.get(String(id)) !== texts.get(String(id)))
    const [hasFacts, hasOrder] = [newFacts !== facts, newOrder !== order]
    ;[rows, facts, order, trouble] = [texts, newFacts, newOrder, '']
    if (isFirst) return { type: 'snapshot', seq: ++seq, topic, facts: found, rows: all, at }
    if (!fresh.length && !hasFacts && !hasOrder) return null
    const news = { ...(hasFacts ? { facts: found } : {}), ...(hasOrder ? { order: ids } : {}) }
    return { type: 'delta', seq: ++seq, topic, ...news, changed: fresh, at }
  }

  /** Sent once. After recovery a snapshot follows. */
  function failed(message: string, at: string): TopicEvent | null {
    if (trouble === message) return null
    trouble = message
    return { type: 'failed', seq: ++seq, topic, message, at }
  }

  return { changed, failed }
}
