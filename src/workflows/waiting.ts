import type { Clock } from '../kernel/clock'
import type { Store } from '../kernel/store'
import { runRepository as rows } from './repository'
import type { WorkflowRunId } from './schema'
import type { RunRow } from './table'

const LOOK_EVERY_MS = 500

const isDelayed = ({ status, pause }: RunRow, before: number): boolean =>
  status === 'paused' && pause?.kind === 'delay' && pause.until < before

/** Waits for runs to end or to pause. What another node carries is found by looking at its row. */
export function createWaiting({ store, clock }: { store: Store; clock: Clock }) {
  const waiting = new Map<WorkflowRunId, Set<() => void>>()
  return {
    /** This process has brought a run to rest. */
    rested: ({ id }: RunRow): void => {
      for (const wake of waiting.get(id) ?? []) wake()
    },

    /**
     * The run once it rests, or as it stands when the time is up or the caller left. A delay that ends before that is
     * no rest: contract 10 says `paused` of long ones.
     */
    async untilRest(run: RunRow, { mostMs, signal }: { mostMs: number; signal: AbortSignal }): Promise<RunRow> {
      const end = clock.monotonic() + mostMs
      for (let row = run; ; row = (await rows.find(store.read, run.id)) ?? row) {
        const leftMs = end - clock.monotonic()
        const goesOn = row.status === 'running' || isDelayed(row, clock.now() + leftMs)
        if (!goesOn || leftMs <= 0 || signal.aborted) return row
        await nap(run.id, Math.min(LOOK_EVERY_MS, leftMs))
      }
    },
  }

  async function nap(id: WorkflowRunId, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = waiting.get(id) ?? new Set()
    waiting.set(id, all.add(resolve))
    const cancel = clock.after(ms, resolve)
    try {
      await promise
    } finally {
      cancel()
      all.delete(resolve)
      if (!all.size) waiting.delete(id)
    }
  }
}
