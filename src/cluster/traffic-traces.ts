import { type Clock, iso } from '../kernel/clock'
import type { Trace, TraceStep } from '../kernel/trace'
import type { Heard, Live } from './live'

type Deps = { clock: Clock; live: Live; node: string }

/** A step and when it began. */
export type TracedStep = TraceStep & { at: string }

/**
 * The steps of a request as they are kept, one after the other: kind, name, ms, when it ended in epoch ms, facts. One
 * list of plain values, because each request leaves one and few are ever asked for.
 */
type Stored = unknown[]
const PLACES = 5

export type Traces = ReturnType<typeof createTraces>

const MAX_REQUESTS = 2_000
/** A research of an hour has hundreds; the first ones tell most. */
const MAX_STEPS = 200
const [ASK, TRACE] = ['trace.ask', 'trace.told']
/** How long another process may take to say what it knows. */
const PATIENCE_MS = 400
/** Characters of one message between processes. */
const PART = 1_500

/**
 * The steps of the newest requests that this process answered, in memory. Who asks for one that another process
 * answered gets it from there, if that still runs.
 */
export function createTraces({ clock, live, node }: Deps) {
  const stored = new Map<string, Stored>()
  /** The requests that are kept, in a ring: the next one takes the place of the oldest. */
  const ids: string[] = []
  let next = 0
  live.hear(ASK, '*', (heard) => heard && heard.node !== node && answer(String(heard.id)))
  return { step, find, own, costOf }

  function step(...[requestId, kind, name, ms, facts]: Parameters<Trace>): void {
    let steps = stored.get(requestId)
    if (!steps) {
      steps = []
      const oldest = ids[next]
      if (oldest !== undefined) stored.delete(oldest)
      ids[next] = requestId
      next = (next + 1) % MAX_REQUESTS
      stored.set(requestId, steps)
    }
    if (steps.length < MAX_STEPS * PLACES) steps.push(kind, name, ms, clock.now(), facts)
  }

  /** What a request that this process answered was charged, in cents; null for nothing. */
  function costOf(requestId: string): number | null {
    const steps = stored.get(requestId) ?? []
    for (let at = steps.length - PLACES; at >= 0; at -= PLACES) {
      const facts = steps[at + PLACES - 1] as TraceStep['facts']
      if (steps[at] === 'settled') return Number(facts?.cost_cents ?? 0) || null
    }
    return null
  }

  /** What this process remembers of a request, in the order in which it ended. */
  function own(requestId: string): readonly TracedStep[] {
    return shown(stored.get(requestId) ?? [])
  }

  /** The steps of a request in the order in which they began, or were settled; none when no process remembers it. */
  async function find(requestId: string): Promise<TracedStep[]> {
    const here = stored.get(requestId)
    const steps = here ? shown(here) : await fromOthers(requestId)
    return steps.toSorted((a, b) => momentOf(a) - momentOf(b))
  }

  function answer(requestId: string): void {
    const steps = stored.get(requestId)
    if (!steps) return
    const text = JSON.stringify(shown(steps))
    const parts = Math.ceil(text.length / PART)
    for (let part = 0; part < parts; part++)
      live.tell(TRACE, requestId, { node, part, parts, text: text.slice(part * PART, (part + 1) * PART) })
  }

  async function fromOthers(requestId: string): Promise<TracedStep[]> {
    const heard: string[] = []
    const { promise, resolve } = Promise.withResolvers<TracedStep[]>()
    const stop = live.hear(TRACE, requestId, (message) => {
      if (!message || message.node === node) return
      heard[Number(message.part)] = String(message.text)
      if (Object.keys(heard).length === Number(message.parts)) resolve(stepsIn(heard))
    })
    const cancel = clock.after(PATIENCE_MS, () => resolve([]))
    try {
      live.tell(ASK, requestId, { node })
      return await promise
    } finally {
      cancel()
      stop()
    }
  }
}

/** Times rounded to a tenth of a millisecond. */
function shown(stored: Stored): TracedStep[] {
  return Array.from({ length: stored.length / PLACES }, (_, index) => {
    const [kind, name, took, endedAt, facts] = stored.slice(index * PLACES) as [
      TraceStep['kind'],
      string,
      number,
      number,
      TraceStep['facts'],
    ]
    const ms = Math.round(took * 10) / 10
    return { kind, name, ms, at: iso(Math.floor(endedAt - ms)), ...(facts && { facts }) }
  })
}

function stepsIn(parts: readonly (Heard[string] & string)[]): TracedStep[] {
  try {
    return JSON.parse(parts.join('')) as TracedStep[]
  } catch {
    return []
  }
}

/** What a call came to is known at its end. */
const momentOf = ({ kind, at, ms }: TracedStep): number => Date.parse(at) + (kind === 'settled' ? ms : 0)
