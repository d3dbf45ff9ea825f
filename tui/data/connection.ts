import { createParser } from 'eventsource-parser'
import { clean, mapStrings } from '../../src/kernel/text'
import type { StreamEvent, TopicName } from '../../src/operators/schema'
import type { Event } from '../state/model'

/** Requested topics, and the rows per topic if more than the server's default. */
type TopicRequest = { topics: readonly TopicName[]; max: number | null }

/** The request query for these topics. */
export const queryOf = ({ topics, max }: TopicRequest): string =>
  `topics=${topics.join(',')}${max === null ? '' : `&most=${max}`}`

/** What the dashboard needs from its host: access to the server, and the commands of `svc-admin`. */
export type Host = {
  /** Server-sent events of these topics. Rejects when no answer comes. */
  stream(wanted: TopicRequest, ended: AbortSignal): Promise<Response>
  /** Returns the answer of `GET /ops/v1/PATH`. `ended` aborts the request. Throws an error with a readable message. */
  read(path: string, ended?: AbortSignal): Promise<unknown>
  /** Runs one command line against the same server. `yes` answers its confirmation. */
  run(argv: readonly string[], yes: boolean): Promise<{ exitCode: number; out: string; err: string }>
  /** Writes a secret to a file that only this user can read. Returns its path. */
  save(text: string): Promise<string>
  /** Stores the details of a fault. Returns where they are. */
  crashed(error: unknown): string
}

const MAX_CHARS = 20_000

type Deps = {
  host: Host
  wanted(): TopicRequest
  onEvent(event: Event): void
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

const PAUSES_S = [1, 2, 4, 8, 10]
/** The server sends something at least every ten seconds. */
const SILENT_MS = 15_000
/** Maximum wait for the first event. A proxy that buffers the stream never delivers one. */
const FIRST_MS = 6_000
const [POLL_MS, LONGEST_POLL_MS] = [2_000, 10_000]

class Silent extends Error {}

/** Keeps the model up to date: by the stream, or by polling if a proxy blocks the stream. Reconnects after a break. */
export function createConnection({ host, wanted, onEvent, now, sleep }: Deps) {
  let current = new AbortController()
  const stopping = new AbortController()
  let isBlocked = false

  return {
    /** Reconnects with the current topics. */
    restart: () => current.abort(),
    stop: () => {
      stopping.abort()
      current.abort()
    },
    run,
  }

  async function run(): Promise<void> {
    for (let tries = 0; !stopping.signal.aborted; ) {
      current = new AbortController()
      const { signal } = current
      try {
        await (isBlocked ? poll(signal) : follow(signal))
        tries = 0
        // The server ended the stream itself, for example because it stops.
        if (!signal.aborted) throw new Error('the server ended the stream')
      } catch (error) {
        if (signal.aborted) continue
        if (error instanceof Silent && !isBlocked) {
          isBlocked = true
          onEvent({
            type: 'said',
            text: 'the live stream is blocked; reading every 2s instead (see help remote)',
          })
          continue
        }
        tries += 1
        const seconds = PAUSES_S[Math.min(tries, PAUSES_S.length) - 1]!
        const jitter = tries > 4 ? Number(Bun.hash(String(now())) % 2_000n) : 0
        const pause = seconds * 1_000 + jitter
        onEvent({ type: 'lost', problem: wordsOf(error), tries, nextTryAt: now() + pause })
        await sleep(pause, signal)
      }
    }
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const silence = createSilence()
    const ended = AbortSignal.any([signal, silence.signal])
    try {
      const response = await host.stream(wanted(), ended)
      if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`)
      const events: StreamEvent[] = []
      const parser = createParser({ onEvent: ({ data }) => void events.push(cleaned(JSON.parse(data)) as StreamEvent) })
      const decoder = new TextDecoder()
      let isFirst = true
      for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
        silence.broken()
        parser.feed(decoder.decode(bytes, { stream: true }))
        if (isFirst && events.length) {
          isFirst = false
          onEvent({ type: 'linked', state: 'live' })
        }
        onEvent({ type: 'streamed', events: events.splice(0) })
      }
    } catch (error) {
      if (silence.signal.aborted && !signal.aborted)
        throw silence.isFirst() ? new Silent() : new Error('the server sends nothing')
      throw error
    } finally {
      silence.stop()
    }
  }

  function createSilence() {
    const silent = new AbortController()
    let isFirst = true
    let timer = setTimeout(() => silent.abort(), FIRST_MS)
    return {
      signal: silent.signal,
      isFirst: () => isFirst,
      broken: () => {
        isFirst = false
        clearTimeout(timer)
        timer = setTimeout(() => silent.abort(), SILENT_MS)
      },
      stop: () => clearTimeout(timer),
    }
  }

  /** Polls every two seconds, less often while nothing changes. */
  async function poll(signal: AbortSignal): Promise<void> {
    let last = ''
    let pause = POLL_MS
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const found = (await host.read(`snapshot?${queryOf(wanted())}`)) as { topics: [] }
      const state = JSON.stringify(found.topics.map(({ facts, rows }) => [facts, rows]))
      pause = state === last ? Math.min(LONGEST_POLL_MS, pause * 1.5) : POLL_MS
      last = state
      if (isFirst) onEvent({ type: 'linked', state: 'polling' })
      onEvent({ type: 'polled', topics: cleaned(found.topics) as [] })
      await sleep(pause, signal)
    }
  }
}

function wordsOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string }
  if (code === 'ENOENT') return 'no server is running'
  if (code === 'ConnectionRefused' || code === 'FailedToOpenSocket' || code === 'ECONNREFUSED')
    return 'connection refused'
  return (message ?? String(error)).split('\n')[0]!.slice(0, 120)
}

/** All data from outside passes here, so that no view can forget to clean it (docs/operating.md 3.8). */
export const cleaned = (value: unknown): unknown => mapStrings(value, (text) => clean(text.slice(0, MAX_CHARS)))
