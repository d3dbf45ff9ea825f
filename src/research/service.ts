import { actingIdentityOf } from '../accounts'
import type { Billing, Prices } from '../billing'
import { type ChargingService, type Later, type PublicJobs, pollUrlOf, promptIn } from '../charging'
import type { EngineService } from '../engines'
import type { Files } from '../files'
import type { ArtifactId } from '../files/schema'
import type { Jobs } from '../jobs'
import type { JobId } from '../jobs/schema'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import type { Store } from '../kernel/store'
import { createWorkerPool } from '../kernel/worker-pool'
import type { TokenTicket } from '../limits'
import { notAReport } from './errors'
import type { Reading } from './notes'
import type { Copies, CopiesInput, ReadingOrder } from './notes.worker.ts'
import { createOwnTexts, type KnowledgeOf } from './own-texts'
import { maxOf, researchKind, usedBy } from './research-job'
import { createRunResearch, type Findings, type ResearchQuestion } from './run-research'
import {
  DEFAULT_SOURCES,
  type Depth,
  type ResearchAccepted,
  ResearchId,
  type ResearchInput,
  type Verification,
} from './schema'
import { checkQuotations, type Quotation, type Snapshots } from './snapshots'
import type { Web } from './web/service'
import { createWriteReport } from './write-report'

type RecheckDeps = {
  store: Store
  jobs: Pick<Jobs, 'shown'>
  files: Pick<Files, 'ofOwner' | 'read'>
  publicJobs: Pick<PublicJobs, 'get'>
}

/** The parts of `result_data` that a check needs. */
type RecheckStored = {
  report: string
  quotations: Quotation[]
  snapshots: { artifact_id: ArtifactId; sha256: string } | null
}

const isReport = (data: Record<string, unknown> | null): data is RecheckStored & Record<string, unknown> =>
  typeof data?.report === 'string' && Array.isArray(data.quotations)

/** Maximum number of reservations kept. A reservation counts for a minute only, so older ones can be dropped. */
const MAX = 10_000

type Deps = {
  store: Store
  clock: Clock
  files: Files
  billing: Billing
  prices: Prices
  engines: EngineService
  jobs: Jobs
  charging: ChargingService
  publicJobs: PublicJobs
  web: Web
  knowledgeOf: KnowledgeOf
  callerOf: Parameters<typeof researchKind>[0]['callerOf']
}

/** A question, and the maximum number of sources to read for it. */
export type Request = { prompt: string; depth: Depth; maxSources: number }
/** What was read, by name. */
export type Stored = Map<string, object>
type Around = { memory: Stored; signal: AbortSignal; guard: ResearchQuestion['guard'] }

/** The findings and their cost. */
type Charged = { found: Findings; costCents: number }

export type ResearchService = ReturnType<typeof createResearch>

const MODE = 'research'
const LIMITS = { max: 2, idleMs: 30_000, memoryBytes: 640 * 1024 * 1024 }

/** Research: as a job (docs/api.md 7), and within a request. */
export function createResearch(deps: Deps) {
  const { clock, engines, charging, prices, publicJobs, web } = deps
  const reading = createWorkerPool<ReadingOrder | CopiesInput, Reading | Copies>({
    script: new URL('./notes.worker.ts', import.meta.url),
    ...LIMITS,
  })
  const author = createWriteReport({ engines })
  const runResearch = createRunResearch({ web, own: createOwnTexts(deps), author, reading })
  const engineId = () => engines.forMode(MODE)
  const reservations = createReservations()
  const kind = researchKind({ ...deps, reservations, conduct: runResearch, hasModel: author.hasModel, engineId })
  publicJobs.define(kind)
  return { start, inquire: research, later, answer, max: maxOf, recheck: createRecheck(deps) }

  /**
   * Queues a research job. Throws 400 `missing_prompt` or `guardrail_blocked`, 402 `insufficient_credits`, 429
   * `mode_rate_limit_exceeded` or `token_limit_exceeded`, 503 `queue_unavailable`.
   */
  async function start(call: Call, input: ResearchInput): Promise<ResearchAccepted> {
    const { depth = 'advanced', max_sources: maxSources = DEFAULT_SOURCES } = input
    const id = ResearchId.create()
    const wanted = wantedFor(id, { prompt: promptIn(input), depth, maxSources })
    const admitted = await charging.admit(call, wanted)
    const { requestId, route, caller } = call
    const ticket = wanted.free ? null : await charging.reserveTokens(call, wanted)
    if (ticket) reservations.keep(id, ticket)
    const accepted = publicJobs.accept(call, kind, {
      input: { ...actingIdentityOf(caller), id, prompt: admitted.texts.prompt!, depth, maxSources, requestId, route },
      hold: admitted.hold,
      answer: (jobId) => ({
        id,
        object: 'research' as const,
        job_id: jobId,
        status: 'queued' as const,
        created: iso(clock.now()),
        poll_url: pollUrlOf(jobId),
      }),
      effects: (tx, jobId) => charging.accepted(tx, admitted.charging, jobId),
    })
    return accepted.catch((error: unknown) => {
      reservations.end(id)
      throw error
    })
  }

  function wantedFor(id: ResearchId, { prompt, depth, maxSources }: Request) {
    const by = { kind: 'research', id, mode: MODE, engineId: engineId(), free: !author.hasModel() } as const
    return { ...by, texts: { prompt }, max: maxOf(depth, maxSources), reads: engines.countTokens(prompt) }
  }

  /**
   * Research within a request. The request charges for it and applies the policy to the report. Stores what was read in
   * `memory`. Throws errors that {@link isNothingToRead} recognises when there is no source, and what engines throw.
   */
  function research(call: Call, request: Request, around: Around): Promise<Findings> {
    const { memory, signal, guard } = around
    return runResearch({
      ...request,
      call,
      signal,
      guard,
      memory: {
        recall: async (name) => memory.get(name) ?? null,
        keep: async (name, value) => void memory.set(name, value),
      },
      guardOutput: asItIs,
      notify: () => {},
    })
  }

  /** Continues the research as a job with what was already read. */
  async function later(call: Call, request: Request, memory: Stored): Promise<Later> {
    const { prompt, depth, maxSources } = request
    const id = ResearchId.create()
    const wanted = wantedFor(id, request)
    const { accepted } = await charging.resume(call, wanted)
    return publicJobs.later(call, kind, {
      input: {
        ...actingIdentityOf(call.caller),
        id,
        prompt,
        depth,
        maxSources,
        requestId: call.requestId,
        route: call.route,
      },
      hold: wanted.free ? 0 : prices.costOf(wanted.engineId, wanted.max),
      effects: async (tx, jobId) => {
        for (const [name, value] of memory) await deps.jobs.keepFor(tx, jobId, name, value)
        await accepted(tx, jobId)
      },
    })
  }

  /** Research with its own charge, used as a tool of a run. Throws like `start` and `inquire`. */
  async function answer(call: Call, request: Request, signal: AbortSignal): Promise<Charged> {
    const input = wantedFor(ResearchId.create(), request)
    return charging.run(
      { ...call, signal, once: undefined },
      {
        ...input,
        make: async (work) => {
          const around = { memory: new Map(), signal: work.signal, guard: null }
          const found = await research(call, { ...request, prompt: work.texts.prompt! }, around)
          return { used: usedBy(found), files: [], found }
        },
        answer: ({ made, costCents }) => ({ found: made.found, costCents }),
      },
    )
  }
}

const asItIs = async (text: string) => ({ text, withheld: false })

/** Tokens that research jobs of this process have reserved until they end (docs/api.md 1.6). */
function createReservations() {
  const tickets = new Map<ResearchId, TokenTicket>()
  return {
    keep(id: ResearchId, ticket: TokenTicket): void {
      const [oldest] = tickets.size >= MAX ? tickets.keys() : []
      if (oldest) tickets.delete(oldest)
      tickets.set(id, ticket)
    },
    end(id: ResearchId): void {
      tickets.get(id)?.correct(0)
      tickets.delete(id)
    },
  }
}

/** Rechecks a report at any later time, from its snapshots only. Reads no source and asks no engine. */
function createRecheck({ store, jobs, files, publicJobs }: RecheckDeps) {
  /** Throws 404, and 409 `conflict` for a job that is not a completed research job. */
  return async function recheck(call: Call<Caller>, id: string): Promise<Verification> {
    const { type, status, result, result_data: data } = await publicJobs.get(call, id)
    if (type !== 'research' || status !== 'completed' || !isReport(data)) throw notAReport(type, status)
    const row = await jobs.shown.find(store.read, null, id as JobId)
    const { snapshots, problems } = await storedOf(data, row!.owner!)
    const checked = checkQuotations(data.report, data.quotations, snapshots)
    if (result !== data.report) problems.push('The report differs from the one in its data.')
    const all = [...problems, ...checked.problems]
    const { length: quotations } = data.quotations
    const sound = all.length === 0
    return {
      job_id: id as JobId,
      sound,
      quotations,
      found: checked.found,
      sources: snapshots.snapshots.length,
      problems: all,
    }
  }

  async function storedOf(
    { snapshots: stored }: RecheckStored,
    owner: OwnerScope,
  ): Promise<{ snapshots: Snapshots; problems: string[] }> {
    const nothing: Snapshots = { version: 1, snapshots: [] }
    if (!stored) return { snapshots: nothing, problems: [] }
    const [row] = await files.ofOwner(store.read, owner, { ids: [stored.artifact_id], limit: 1 })
    if (!row) return { snapshots: nothing, problems: ['The file with its snapshots no longer exists.'] }
    const bytes = new Uint8Array(await new Response(await files.read(row)).arrayBuffer())
    if (sha256Hex(bytes) !== stored.sha256)
      return { snapshots: nothing, problems: ['The file with its snapshots was changed.'] }
    return { snapshots: JSON.parse(Buffer.from(bytes).toString()) as Snapshots, problems: [] }
  }
}
