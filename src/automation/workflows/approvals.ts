import type { Takeovers } from '../../jobs'
import type { Tx } from '../../kernel/store'
import type { RunRow } from './table'

const RUN_KIND = 'workflow_run'
/** Nobody keeps a run: who decides has it for one unit. */
const HELD_MS = 60_000

type Run = Pick<RunRow, 'id' | 'owner' | 'pause'>

export type Approvals = ReturnType<typeof createApprovals>

const waits = ({ pause }: Run): boolean => pause !== null && pause.kind !== 'delay'

/** Runs that wait for a person, as chats and browser sessions do: there while one is asked for (contract 10, 15). */
export function createApprovals({ takeovers }: { takeovers: Pick<Takeovers, 'of'> }) {
  const runs = takeovers.of({ name: RUN_KIND, title: 'workflow run', silenceMs: HELD_MS, changed: async () => {} })
  const subjectOf = ({ id, owner }: Run) => ({ id, owner })
  return {
    /** Whoever moves a run that waits comes after others who do, also of another process, and reads it then. */
    async turn(tx: Tx, run: Run): Promise<void> {
      if (waits(run)) await runs.lock(tx, subjectOf(run))
    },

    /** Part of the unit that moves a run: it is decided, cancelled or out of time, or begins to wait. */
    async moved(tx: Tx, before: Run, now: Run): Promise<void> {
      if (waits(before)) await runs.forget(tx, [before.id])
      if (waits(now)) await runs.request(tx, subjectOf(now), { call: null, reason: now.pause?.message ?? null })
    },
  }
}
