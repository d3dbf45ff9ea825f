import { eq } from 'drizzle-orm'
import { createJobs, defineJob, type JobKind } from '../../src/jobs'
import { jobs as table } from '../../src/jobs/table'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'

/** An empty store, and queues on it: one for each process there is. */
export async function createJobsWorld() {
  const store = await openTestStore()
  return { store, queue, rowOf }

  function queue(node: string, { clock = fakeClock(), leaseMs = 30_000 } = {}) {
    const faults: string[] = []
    const onError = (name: string, error: unknown) => faults.push(`${name}: ${error}`)
    return { jobs: createJobs({ store, clock, node, leaseMs, onError }), clock, faults, node }
  }

  async function rowOf(id: string | null) {
    const t = store.read.of(table)
    return (
      await store.read
        .select()
        .from(t)
        .where(eq(t.id, id as never))
    )[0]!
  }
}

let made = 0

/** A kind under a name of its own, tried three times a second apart. */
export function kindOf<Payload extends object | null>(
  kind: Partial<JobKind<Payload>> & Pick<JobKind<Payload>, 'run'>,
): JobKind<Payload> {
  const retry = { attempts: 3, delayMs: () => 1_000 }
  return defineJob<Payload>({ name: `test.${++made}`, retry, timeLimitMs: 600_000, concurrency: 10, ...kind })
}
