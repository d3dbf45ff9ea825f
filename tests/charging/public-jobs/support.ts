import { type JobResult, jobCompleted, jobFailed, type PublicKind, pollUrlOf } from '../../../src/charging'
import type { DomainEvent } from '../../../src/events'
import type { JobId } from '../../../src/jobs/schema'
import type { Call } from '../../../src/kernel/caller'
import { centsToMicro } from '../../../src/kernel/money'
import type { Person, World } from '../../support/world'

type Input = { n: number }
type Notice = DomainEvent<Record<string, unknown>>

let made = 0

/** A public kind of a name of its own, tried twice without a wait. */
export const kindOf = (run: PublicKind<Input>['run'], more: Partial<PublicKind<Input>> = {}): PublicKind<Input> => ({
  name: `test.public.${++made}`,
  shown: 'research',
  retry: { attempts: 2, delayMs: () => 1_000 },
  timeLimitMs: 600_000,
  concurrency: 10,
  run,
  ...more,
})

export const CENT = centsToMicro(1)
/** A run that costs three cents and says so. */
export const report = async (): Promise<JobResult> => ({
  text: '# Tides [1]',
  data: { title: 'Tides' },
  cost: 3 * CENT,
})

/** What tests do with public jobs in a world: no loop runs, `run` does what is due. */
export function jobsIn(world: World) {
  const { publicJobs, jobs, billing, events } = world.app.container
  const notices: Notice[] = []
  events.afterCommit(jobCompleted, (event) => void notices.push(event as never))
  events.afterCommit(jobFailed, (event) => void notices.push(event as never))
  return {
    notify: notices,
    define: (kind: PublicKind<Input>) => {
      publicJobs.define(kind)
      return kind
    },
    accept: (person: Person, kind: PublicKind<Input>, { cents = 10, n = 1, call = world.callAs(person) } = {}) =>
      acceptAs(call, kind, { cents, n }),
    run: (kind?: PublicKind<Input>) => jobs.runDue(kind?.name),
    get: async (person: Person, id: string) => (await person.send('GET', `jobs/${id}`)).body,
    walletOf: async ({ userId }: Person) => {
      const { balance, held } = await billing.balance(world.app.store.read, `user:${userId}`)
      return { cents: balance / CENT, held: held / CENT }
    },
    /** Sentences about anything unsound in ledger, holds and jobs. */
    verify: async () => [
      ...(await billing.verify(world.app.store.read)),
      ...(await publicJobs.verify(world.app.store.read)),
    ],
  }

  async function acceptAs(call: Call, kind: PublicKind<Input>, { cents, n }: { cents: number; n: number }) {
    const { job_id } = await publicJobs.accept(call, kind, {
      input: { n },
      hold: cents * CENT,
      answer: (job_id: JobId) => ({ job_id, status: 'queued', poll_url: pollUrlOf(job_id) }),
    })
    return job_id
  }
}
