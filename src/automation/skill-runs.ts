import { and, eq, gte, inArray, ne, sql } from 'drizzle-orm'
import type { ActingIdentity, BackgroundCallers } from '../accounts'
import type { AuditLog } from '../audit'
import type { AuditEntry } from '../audit/schema'
import type { CompletionRequest, CompletionService } from '../completions'
import type { EventId } from '../events/schema'
import { defineJob, type Jobs, type Outcome, type Running, recurring } from '../jobs'
import type { Call, OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { newRequestId, type OrgId } from '../kernel/ids'
import { type PageRequest, pagesBy } from '../kernel/keyset'
import { centsToMicro, microToCents } from '../kernel/money'
import { removeOld } from '../kernel/old-rows'
import type { Page } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import type { Reader, Store, Tx } from '../kernel/store'
import { beginningOf } from '../kernel/text'
import type { Activation, SkillService } from '../skills'
import type { SkillId } from '../skills/schema'
import { type RunCause, SkillRunId } from './schema'
import { type SkillRunRow, skillRuns } from './table'

/** Limits of unattended runs, per owner and day and per run (docs/api.md 8.1). Costs are in micro-cents. */
export const LIMITS = {
  runsADay: 50,
  costADay: centsToMicro(500),
  costARun: centsToMicro(50),
  toolCallsARun: 10,
} as const

/** The number and cost of the day's runs. A run in progress counts with its maximum cost. */
type Spent = { runs: number; costMicro: number }

const DAY_MS = 24 * 60 * 60_000

/** Number of consecutive failures that pauses a hook or an installation (docs/api.md 8.1, 11.1). */
export const MAX_FAILURES = 5

/** Number of characters stored of an answer, and read of an event's data. */
const MAX_OUTPUT = 20_000
export const MAX_DATA = 32_000

/** Retention of ended runs, equal to that of jobs (docs/api.md 7). */
const STORED_MS = 30 * DAY_MS

/** How a run ended, as columns of its row. */
type Ending = Pick<SkillRunRow, 'status'> &
  Partial<Pick<SkillRunRow, 'error' | 'output' | 'cost_micro' | 'conversation_id'>>

type Input = {
  active: Activation
  prompt: string
  slug: string
  cause: RunCause
  /** Stores the end of the run in the transaction that charges it. */
  keep(tx: Tx, ending: Ending): Promise<void>
}

/**
 * The completion request of a skill that runs by itself, with that skill and its tools only, without system tools and
 * memories. The result is stored as a conversation.
 */
const requestOfSkill = ({ active, prompt, slug, cause, keep }: Input): CompletionRequest<object> => ({
  prompt,
  mode: 'fast',
  engine: null,
  overrides: {},
  temperature: undefined,
  voice: { personality: null, style: null, branding: false, componentLibrary: 'svc', persona: 'svc' },
  usesSoul: false,
  context: [],
  after: [],
  images: [],
  skills: [],
  tools: [],
  conversation: 'new',
  sealed: true,
  active,
  bounds: { costMicro: LIMITS.costARun, toolCalls: LIMITS.toolCallsARun },
  maxIterations: LIMITS.toolCallsARun,
  functions: null,
  json: false,
  checkJson: null,
  cache: 'off',
  wantsFollowUps: false,
  metadata: { skill: slug, autonomous: cause, most_cents: microToCents(LIMITS.costARun) },
  alongside: (tx, { call, costMicro, conversationId }, { content, refusal }, broken) => {
    // This worker is stopping. Nothing is charged, and the run is retried or fails.
    if (broken !== undefined && call.signal.aborted) throw broken
    const error =
      broken === undefined
        ? refusal === null
          ? null
          : 'refused'
        : broken instanceof AppError
          ? broken.code
          : 'server_error'
    return keep(tx, {
      status: error === null ? 'completed' : 'failed',
      error,
      output: beginningOf(content, MAX_OUTPUT),
      cost_micro: costMicro,
      conversation_id: conversationId,
    })
  },
  present: () => ({}),
  shape: null,
  warnings: [],
})

const rows = rowsOf(skillRuns)
const newestFirst = pagesBy(skillRuns, 'created_at')

/** Rows of skill runs. Every query names the owner, or a source whose owner was checked. */
const runRepository = {
  insert: rows.insert,

  find: (db: Reader, owner: OwnerScope, id: SkillRunId) => rows.first(db, { id, owner }),

  /** The runs of one hook or installation, newest first. */
  ofSource: (db: Reader, source: string, wanted: PageRequest): Promise<Page<SkillRunRow>> =>
    newestFirst(db, wanted, eq(db.of(skillRuns).source, source)),

  /** Ends a run. False when it had already ended. */
  end: async (tx: Tx, owner: OwnerScope, id: SkillRunId, ending: Partial<SkillRunRow>): Promise<boolean> =>
    (await rows.update(tx, { id, owner, status: 'running' }, ending)) === 1,

  async spentSince(tx: Tx, owner: OwnerScope, since: number): Promise<Spent> {
    const table = tx.of(skillRuns)
    const max = sql`case when ${table.status} = 'running' then ${LIMITS.costARun} else ${table.cost_micro} end`
    const [sum] = await tx
      .select({
        runs: sql<number>`count(*)`.mapWith(Number),
        costMicro: sql<number>`coalesce(sum(${max}), 0)`.mapWith(Number),
      })
      .from(table)
      .where(
        and(
          eq(table.owner, owner),
          gte(table.created_at, since),
          inArray(table.status, ['running', 'completed', 'failed']),
        ),
      )
    return sum!
  },
}

const STATUS_OF = {
  running: 202,
  completed: 200,
  failed: 500,
  skipped_cooldown: 200,
  skipped_credits: 402,
  skipped_cap: 402,
} as const

/** The audit entry of a run that ended or was skipped: for the hook that fired, else for the skill. */
const entryOf = (row: SkillRunRow): Omit<AuditEntry, 'scope'> => ({
  ...aboutOf(row),
  input: {
    metadata: {
      slug: row.slug,
      ...(isOnce(row.cause) ? { hook: row.cause === 'install' ? 'onInstall' : 'onUninstall' } : { cause: row.cause }),
      result: row.status,
      ...(row.conversation_id ? { conversation_id: row.conversation_id } : {}),
      ...(row.event_id ? { event_id: row.event_id } : {}),
    },
  },
  output: {
    status: STATUS_OF[row.status],
    cost_cents: microToCents(row.cost_micro),
    ...(row.error ? { error_code: row.error } : {}),
  },
})

type SkillRunDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  unattended: BackgroundCallers
  skills: Pick<SkillService, 'alone'>
  completions: Pick<CompletionService, 'pipeline'>
  lockOwner(tx: Tx, owner: { userId: ActingIdentity['user_id']; orgId: OrgId | null }): Promise<void>
  /** Aborts when the server stops. */
  stopping: AbortSignal
}

/** A run to begin: its owner, who pays, the account it acts for, and its task. */
export type NewRun = {
  owner: OwnerScope
  behalf: ActingIdentity
  skill: { id: SkillId; slug: string }
  cause: RunCause
  prompt: string
  /** The hook or the installation. */
  source?: string
  eventId?: EventId
  /** Depth of the causing event. */
  depth?: number
  /** Route of the causing request. */
  route?: string
}

type Due = { run: SkillRunId; owner: OwnerScope } & Pick<NewRun, 'behalf' | 'skill' | 'cause' | 'prompt' | 'route'> & {
    depth: number
  }
type Listener = (tx: Tx, run: SkillRunRow) => Promise<void>

export type SkillRuns = ReturnType<typeof createSkillRuns>

/** Longer than any completion may take (docs/api.md 1.9). */
const TIME_LIMIT_MS = 15 * 60_000
const MAX_TRIES = 12
/** Temporary errors, after which the run is retried. */
const PASSING = new Set(['storage_unavailable', 'shutting_down', 'rate_limit_exceeded', 'too_many_requests'])
const TIDY_EVERY_MS = 600_000

/** Another process has ended the run. */
class RunEnded extends Error {}

/**
 * Unattended runs of one skill, billed to an owner and within the limits of docs/api.md 8.1. The end of a run, its
 * price and its record are one transaction, so each takes effect once (docs/promises.md I37).
 */
export function createSkillRuns(deps: SkillRunDeps) {
  const { store, clock, audit, jobs, unattended, skills, completions, lockOwner, stopping } = deps
  const listeners = new Map<RunCause, Listener>()
  const common = {
    run,
    timeLimitMs: TIME_LIMIT_MS,
    concurrency: 8,
    concurrencyPerKey: 4,
    keepMs: 0,
    onFailed: async (tx: Tx, { payload }: { payload: Due }) => {
      await end(tx, payload, { status: 'failed', error: 'server_error' })
    },
  }
  /** A prompt of a manifest runs once. After a crash it counts as failed, because its tools may have acted. */
  const once = defineJob<Due>({ ...common, name: 'skills.hook', retry: { attempts: 1, delayMs: () => 0 } })
  const again = defineJob<Due>({
    ...common,
    name: 'skills.run',
    retry: { attempts: MAX_TRIES, delayMs: (attempt) => Math.min(2 ** attempt, 60) * 1_000 },
  })
  jobs.register(once)
  jobs.register(again)
  jobs.register(recurring('skills.runs-tidy', TIDY_EVERY_MS, tidy))
  return {
    begin,
    skip,
    list: (reader: Reader, source: string, wanted: PageRequest) => runRepository.ofSource(reader, source, wanted),
    /** Registers a listener that runs in the transaction that ends runs of a cause. */
    onEnd: (cause: RunCause, react: Listener): void => void listeners.set(cause, react),
  }

  /** Begins a run, or stores that the daily limit prevents it. Locks the owner, so that concurrent runs are counted. */
  async function begin(tx: Tx, input: NewRun): Promise<SkillRunRow> {
    const { owner, behalf, skill, cause, prompt, depth = 0, route } = input
    await lockOwner(tx, { userId: behalf.user_id, orgId: owner.startsWith('org:') ? (owner.slice(4) as OrgId) : null })
    const now = clock.now()
    // Days begin at 00:00 UTC, as for spending caps (docs/api.md 1.9).
    const { runs, costMicro } = await runRepository.spentSince(tx, owner, now - (now % DAY_MS))
    if (runs >= LIMITS.runsADay || costMicro + LIMITS.costARun > LIMITS.costADay) {
      const skipped = await skip(tx, input, 'skipped_cap')
      await record(tx, skipped)
      return skipped
    }
    const row = { ...rowOf(input), status: 'running' as const, completed_at: null }
    await runRepository.insert(tx, row)
    const due: Due = { run: row.id, owner, behalf, skill, cause, prompt, depth, ...(route ? { route } : {}) }
    await jobs.enqueue(tx, isOnce(cause) ? once : again, { owner, payload: due })
    return row
  }

  /** Stores that a run did not begin, and why. */
  async function skip(tx: Tx, input: NewRun, status: 'skipped_cap' | 'skipped_cooldown'): Promise<SkillRunRow> {
    const row = { ...rowOf(input), status, completed_at: clock.now() }
    await runRepository.insert(tx, row)
    return row
  }

  function rowOf({ owner, behalf, skill, cause, source, eventId }: NewRun) {
    const ended = { error: null, output: null, cost_micro: 0, conversation_id: null }
    return {
      id: SkillRunId.create(),
      owner,
      user_id: behalf.user_id,
      api_key_id: behalf.api_key_id,
      skill_id: skill.id,
      slug: skill.slug,
      cause,
      source: source ?? null,
      event_id: eventId ?? null,
      ...ended,
      created_at: clock.now(),
    }
  }

  async function run(job: Running<Due>): Promise<Outcome<null>> {
    const due = job.payload
    if ((await runRepository.find(store.read, due.owner, due.run))?.status !== 'running') return {}
    const ending = await attempt(job)
    return ending === null ? {} : { effects: (tx) => end(tx, due, ending) }
  }

  /** Runs the skill. Null when its end and price are already stored. */
  async function attempt({ payload: due, attempt: number, signal }: Running<Due>): Promise<Ending | null> {
    const { skill, prompt, cause, route = cause, depth } = due
    try {
      const caller = await unattended(due.behalf)
      if (!caller) return { status: 'failed', error: 'access_ended' }
      // A separate request, because the causing one has ended.
      const call: Call = {
        caller,
        route,
        requestId: newRequestId(),
        signal: AbortSignal.any([signal, stopping]),
        depth: depth + 1,
      }
      const active = await skills.alone(call, skill.id, prompt)
      if (!active) return { status: 'failed', error: 'not_found' }
      // The tools may have acted in the process that died.
      if (number > 1 && active.tools.length) return { status: 'failed', error: 'interrupted' }
      const keep = async (tx: Tx, ending: Ending) => {
        if (!(await end(tx, due, ending))) throw new RunEnded()
      }
      await completions.pipeline.complete(call, requestOfSkill({ active, prompt, slug: skill.slug, cause, keep }))
      return null
    } catch (error) {
      if (error instanceof RunEnded) return null
      if (!(error instanceof AppError) || signal.aborted) throw error
      if (!isOnce(cause) && (error.kind === 'broken' || PASSING.has(error.code))) throw error
      return { status: error.kind === 'unpaid' ? 'skipped_credits' : 'failed', error: error.code }
    }
  }

  /** Ends a run: updates its row, records it and runs the listener. False when it had already ended. */
  async function end(tx: Tx, { owner, run: id }: Pick<Due, 'owner' | 'run'>, ending: Ending): Promise<boolean> {
    const completed_at = clock.now()
    if (!(await runRepository.end(tx, owner, id, { ...ending, completed_at }))) return false
    const ended = (await runRepository.find(tx, owner, id))!
    await record(tx, ended)
    await listeners.get(ended.cause)?.(tx, ended)
    return true
  }

  async function record(tx: Tx, row: SkillRunRow): Promise<void> {
    const about = { scope: row.owner, requestId: newRequestId(), userId: row.user_id, keyId: row.api_key_id }
    await audit.recordUnattended(tx, about, entryOf(row))
  }

  async function tidy(): Promise<void> {
    const before = clock.now() - STORED_MS
    const where = (t: typeof skillRuns.sqlite) => ne(t.status, 'running')
    await removeOld(store, { table: skillRuns, key: 'id', at: 'created_at', where }, before)
  }
}

/** Whether the cause is a prompt of a manifest, which runs once when its skill is installed or removed. */
const isOnce = (cause: RunCause): boolean => cause === 'install' || cause === 'uninstall'

function aboutOf({ cause, source, skill_id }: SkillRunRow) {
  if (cause === 'hook') return { action: 'hook.fired', entityType: 'hook', entityId: source } as const
  const action = isOnce(cause) ? 'skill.hook_ran' : 'skill.triggered'
  return { action, entityType: 'skill', entityId: skill_id } as const
}
