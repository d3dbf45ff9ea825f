import { type Clock, iso } from '../kernel/clock'
import type { Trace, TraceStep } from '../kernel/trace'
import type { Heard, Live } from '../live'

type Deps = { clock: Clock; live: Live; node: string }

/** A step and when it began. */
export type TracedStep = TraceStep & { at: string }

/** As it is kept: few requests are ever asked for, so what is shown is made then. Epoch milliseconds. */
type Kept = { step: TraceStep; endedAt: number }

export type Traces = ReturnType<typeof createTraces>

const MOST_REQUESTS = 2_000
/** A research of an hour has hundreds; the first ones tell most. */
const MOST_STEPS = 200
const [ASK, TOLD] = ['trace.ask', 'trace.told']
/** How long another process may take to say what it knows. */
const PATIENCE_MS = 400
/** Characters of one message between processes. */
const PART = 1_500

/**
 * The steps of the newest requests that this process answered, in memory. Who asks for one that another process
 * answered gets it from there, if that still runs.
 */
export function createTraces({ clock, live, node }: Deps) {
  const kept = new Map<string, Kept[]>()
  live.hear(ASK, '*', (heard) => heard && heard.node !== node && answer(String(heard.id)))
  return { step, find, own, costOf }

  function step(...[requestId, one]: Parameters<Trace>): void {
    let steps = kept.get(requestId)
    if (!steps) {
      steps = []
      kept.set(requestId, steps)
      if (kept.size > MOST_REQUESTS) kept.delete(kept.keys().next().value!)
    }
    if (steps.length < MOST_STEPS) steps.push({ step: one, endedAt: clock.now() })
  }

  /** What a request that this process answered was charged, in cents; null for nothing. */
  function costOf(requestId: string): number | null {
    const settled = kept.get(requestId)?.findLast(({ step }) => step.kind === 'settled')
    return Number(settled?.step.facts?.cost_cents ?? 0) || null
  }

  /** What this process remembers of a request, in the order in which it ended. */
  function own(requestId: string): readonly TracedStep[] {
    return kept.get(requestId)?.map(shown) ?? []
  }

  /** The steps of a request in the order in which they began; none when no process remembers it. */
  async function find(requestId: string): Promise<TracedStep[]> {
    const steps = kept.get(requestId)?.map(shown) ?? (await fromOthers(requestId))
    return steps.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  }

  function answer(requestId: string): void {
    const steps = kept.get(requestId)
    if (!steps) return
    const text = JSON.stringify(steps.map(shown))
    const parts = Math.ceil(text.length / PART)
    for (let part = 0; part < parts; part++)
      live.tell(TOLD, requestId, { node, part, parts, text: text.slice(part * PART, (part + 1) * PART) })
  }

  async function fromOthers(requestId: string): Promise<TracedStep[]> {
    const heard: string[] = []
    const { promise, resolve } = Promise.withResolvers<TracedStep[]>()
    const stop = live.hear(TOLD, requestId, (said) => {
      if (!said || said.node === node) return
      heard[Number(said.part)] = String(said.text)
      if (Object.keys(heard).length === Number(said.parts)) resolve(stepsIn(heard))
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

/** Rounded to a tenth of a millisecond. */
function shown({ step, endedAt }: Kept): TracedStep {
  const ms = Math.round(step.ms * 10) / 10
  return { ...step, ms, at: iso(Math.floor(endedAt - ms)) }
}

function stepsIn(parts: readonly (Heard[string] & string)[]): TracedStep[] {
  try {
    return JSON.parse(parts.join('')) as TracedStep[]
  } catch {
    return []
  }
}
