import { createParser } from 'eventsource-parser'
import { clean } from '../../src/kernel/text'
import type { StreamEvent, TopicName } from '../../src/operators/schema'
import type { Event } from '../state/model'

/** Topics that are asked for, and how many rows of each, where that is more than the server gives by itself. */
type Wanted = { topics: readonly TopicName[]; most: number | null }

/** As the query of a request. */
export const queryOf = ({ topics, most: max }: Wanted): string =>
  `topics=${topics.join(',')}${max === null ? '' : `&most=${max}`}`

/** What the dashboard needs of its caller: the server, and the commands of `svc-admin`. */
export type Host = {
  /** Server-sent events of these topics. Rejects when no answer comes. */
  stream(wanted: Wanted, ended: AbortSignal): Promise<Response>
  /** What `GET /ops/v1/PATH` answers; `ended` gives up. Throws with a sentence. */
  read(path: string, ended?: AbortSignal): Promise<unknown>
  /** Runs one command line against the same server; `yes` answers its confirmation. */
  run(argv: readonly string[], yes: boolean): Promise<{ exitCode: number; out: string; err: string }>
  /** Writes a secret to a file of this user only. Returns its path. */
  save(text: string): Promise<string>
  /** Keeps the details of a fault. Returns where they are. */
  crashed(error: unknown): string
}

const MAX_CHARS = 20_000

type Deps = {
  host: Host
  wanted(): Wanted
  heard(event: Event): void
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

const PAUSES_S = [1, 2, 4, 8, 10]
/** The server says something at least every ten seconds. */
const SILENT_MS = 15_000
/** A proxy that collects the stream lets nothing through, so the first event is waited for no longer. */
const FIRST_MS = 6_000
const [POLL_MS, LONGEST_POLL_MS] = [2_000, 10_000]

class Silent extends Error {}

/** Keeps the model supplied: by the stream, by asking where a proxy holds the stream back, and again after a break. */
export function createConnection({ host, wanted, heard, now, sleep }: Deps) {
  let current = new AbortController()
  const stopping = new AbortController()
  let isBlocked = false

  return {
    /** Begins again, with the topics that are wanted now. */
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
        // The server ended the stream by itself, as when it stops.
        if (!signal.aborted) throw new Error('the server ended the stream')
      } catch (error) {
        if (signal.aborted) continue
        if (error instanceof Silent && !isBlocked) {
          isBlocked = true
          heard({
            type: 'said',
            text: 'the live stream is blocked; reading every 2s instead (see help remote)',
          })
          continue
        }
        tries += 1
        const seconds = PAUSES_S[Math.min(tries, PAUSES_S.length) - 1]!
        const jitter = tries > 4 ? Number(Bun.hash(String(now())) % 2_000n) : 0
        const pause = seconds * 1_000 + jitter
        heard({ type: 'lost', problem: wordsOf(error), tries, nextTryAt: now() + pause })
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
          heard({ type: 'linked', state: 'live' })
        }
        heard({ type: 'streamed', events: events.splice(0) })
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

  /** Asks every two seconds, less often while nothing changes. */
  async function poll(signal: AbortSignal): Promise<void> {
    let last = ''
    let pause = POLL_MS
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const found = (await host.read(`snapshot?${queryOf(wanted())}`)) as { topics: [] }
      const state = JSON.stringify(found.topics.map(({ facts, rows }) => [facts, rows]))
      pause = state === last ? Math.min(LONGEST_POLL_MS, pause * 1.5) : POLL_MS
      last = state
      if (isFirst) heard({ type: 'linked', state: 'polling' })
      heard({ type: 'polled', topics: cleaned(found.topics) as [] })
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

/** Everything that comes from outside passes here, so that no view can forget it (docs/operating.md 3.8). */
export function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return clean(value.length > MAX_CHARS ? value.slice(0, MAX_CHARS) : value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleaned(one)]))
}
