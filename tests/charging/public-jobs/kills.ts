import { join } from 'node:path'
import { createAuditLog } from '../../../src/audit'
import { createAccountLimits, createBalanceWatch, createBilling } from '../../../src/billing'
import { createPublicJobs, type PublicKind } from '../../../src/charging'
import { createEventBus } from '../../../src/events'
import { createFilePlace, createFiles } from '../../../src/files'
import { createJobs } from '../../../src/jobs'
import { systemClock as clock } from '../../../src/kernel/clock'
import { openPostgres, openSqlite, type Store } from '../../../src/kernel/store'
import { CENT } from './support'

const LEASE_MS = 1_500
/** Cents by the number of a job. */
export const costOf = (n: number): number => n % 4

export type Place = { dialect: 'postgres'; url: string } | { dialect: 'sqlite'; url: string }

export function openPlace({ dialect, url }: Place): Store {
  if (dialect === 'postgres') return openPostgres({ url, maxConnections: 4 })
  const onDiskFailure = (error: unknown) => {
    throw error
  }
  return openSqlite({ path: url, onDiskFailure, busyPatienceMs: 10_000 })
}

/** Work of a tenth of a second, of which some fails at once. Kills are not its fault: it has many attempts. */
const kind: PublicKind<{ n: number }> = {
  name: 'test.paid',
  shown: 'research',
  retry: { attempts: 1_000, delayMs: () => 10 },
  timeLimitMs: 60_000,
  concurrency: 8,
  async run({ payload: { n }, attempt }) {
    await Bun.sleep(100 + (n % 100))
    if (n % 5 === 0 && attempt === 1) throw new Error('once')
    return { text: `report ${n}`, cost: costOf(n) * CENT }
  },
}

/** The modules that jobs need, as one process has them. */
export function processOf(store: Store, node: string, folder: string) {
  const onError = () => undefined
  const audit = createAuditLog({ clock })
  const events = createEventBus({ clock, onError })
  const limits = createAccountLimits(store)
  const watch = createBalanceWatch({ limits, events })
  const jobs = createJobs({ store, clock, node, leaseMs: LEASE_MS, onError })
  const billing = createBilling({ store, clock, audit, limits, watch, jobs, node })
  const files = createFiles({
    store,
    clock,
    audit,
    ...createFilePlace({ ...NO_BUCKET, dataDir: join(folder, 'data') }),
    masterKey: new Uint8Array(32),
    origin: () => 'http://localhost',
    rules: { ownerMb: 1, ownerCount: 1, retentionDays: 0 },
    onError,
  })
  const publicJobs = createPublicJobs({ store, clock, jobs, audit, events, files, billing, isServed: () => true })
  publicJobs.define(kind)
  return { jobs, billing, publicJobs, kind }
}

const NO_BUCKET = {
  filesDir: '',
  filesS3Bucket: '',
  filesS3Endpoint: '',
  filesS3Region: '',
  filesS3AccessKeyId: '',
  filesS3SecretAccessKey: '',
}

if (import.meta.main) {
  const [dialect, url, folder] = process.argv.slice(2) as ['postgres' | 'sqlite', string, string]
  await processOf(openPlace({ dialect, url }), `worker ${process.pid}`, folder).jobs.start()
}
