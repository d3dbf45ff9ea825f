import { asc, inArray } from 'drizzle-orm'
import { command, type Tx, unlocked } from '../kernel/store'
import { type AskRow, jobAsks } from './table'

export type Ask = Omit<AskRow, 'seq'>

const inserted = command<Ask>()((tx, p) =>
  tx.insert(tx.of(jobAsks)).values({
    kind: p.kind,
    unique_key: p.unique_key,
    owner: p.owner,
    payload: p.payload,
    run_at: p.run_at,
  } satisfies Record<keyof Ask, unknown>),
)

/** Asks for jobs that no worker has heeded yet. */
export const askRepository = {
  insert: async (tx: Tx, ask: Ask): Promise<void> => void (await inserted(tx, ask)),

  /** Removes the first ones that no other worker has taken, and returns them: of each job one, with the soonest time. */
  async take(tx: Tx, limit: number): Promise<Ask[]> {
    const t = tx.of(jobAsks)
    const found = (await unlocked(tx, tx.select().from(t).orderBy(asc(t.seq)).limit(limit))) as AskRow[]
    const seqs = found.map(({ seq }) => seq)
    if (seqs.length) await tx.delete(t).where(inArray(t.seq, seqs))
    const byJob = Map.groupBy(found, ({ kind, unique_key }) => `${kind} ${unique_key}`)
    // Workers that heed several wait for one another in one order, so never in a circle.
    const inOrder = [...byJob].sort(([a], [b]) => (a < b ? -1 : 1))
    return inOrder.map(([, some]) => ({ ...some[0]!, run_at: Math.min(...some.map(({ run_at }) => run_at)) }))
  },
}
