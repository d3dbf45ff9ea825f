import type { actingIdentityOf } from '../accounts'
import type { Consumption, Prices } from '../billing'
import type { ChargingService, JobResult, PublicKind } from '../charging'
import type { Files } from '../files'
import { type About, ArtifactId } from '../files/schema'
import { GiveUp, type Running } from '../jobs'
import type { Call, TenantCaller } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { KEY_IS_GONE } from './errors'
import { SNAPSHOT_MODEL } from './own-texts'
import type { createRunResearch, Findings } from './run-research'
import type { Depth, ResearchId } from './schema'
import { EFFORT } from './write-report'

/** The stored input of a job. */
export type StoredInput = ReturnType<typeof actingIdentityOf> & {
  id: ResearchId
  prompt: string
  depth: Depth
  maxSources: number
  requestId: string
  route: string
}

type Deps = {
  conduct: ReturnType<typeof createRunResearch>
  /** Whether an engine writes the reports. */
  hasModel(): boolean
  files: Pick<Files, 'receive' | 'add'>
  charging: Pick<ChargingService, 'countTokens' | 'resume'>
  prices: Prices
  engineId(): string
  /** Tokens that count towards a caller's rate until the job counts its own. */
  reservations: { end(id: ResearchId): void }
  /** The caller on whose behalf stored work runs. Null when the caller has lost access. */
  callerOf(behalf: ReturnType<typeof actingIdentityOf>): Promise<TenantCaller | null>
}

const MINUTE_MS = 60_000

/** The maximum consumption of a research job, whose price is held. */
export const maxOf = (depth: Depth, maxSources: number): Consumption => ({
  promptTokens: EFFORT[depth].promptTokens,
  completionTokens: EFFORT[depth].outputTokens,
  pages: maxSources,
})

/** Research as a job: ten minutes, two attempts (docs/api.md 7). */
export function researchKind({
  conduct: runResearch,
  hasModel,
  files,
  charging,
  prices,
  reservations,
  ...deps
}: Deps): PublicKind<StoredInput> {
  return {
    name: 'research.report',
    shown: 'research',
    retry: { attempts: 2, delayMs: () => 2_000 },
    timeLimitMs: 10 * MINUTE_MS,
    concurrency: 8,
    concurrencyPerKey: 4,
    remembers: true,
    run,
  }

  async function run(job: Running<StoredInput>): Promise<JobResult> {
    const { id, prompt, depth, maxSources, requestId, route } = job.payload
    const caller = await deps.callerOf(job.payload)
    if (!caller) throw new GiveUp(KEY_IS_GONE)
    const call: Call = { caller, requestId, route, signal: job.signal }
    const engineId = deps.engineId()
    const free = !hasModel()
    const wanted = { kind: 'research', id, mode: 'research', engineId, free, texts: { prompt }, max: {} } as const
    const { guard, guardOutput, delivered } = await charging.resume(call, wanted)
    const found = await runResearch({
      ...{ prompt, depth, maxSources, call, guard, guardOutput, signal: job.signal },
      memory: job,
      notify: job.progress,
    }).catch(lastWord)
    const used = usedBy(found)
    const { promptTokens = 0, completionTokens = 0 } = used
    reservations.end(id)
    charging.countTokens(caller, promptTokens + completionTokens)
    // Each turn costs the price of the engine that answered. Pages cost the price of research.
    const cost = free
      ? 0
      : found.turns.reduce(
          (sum, turn) => sum + prices.costOf(turn.engineId, turn),
          prices.costOf(engineId, { pages: found.pages }),
        )
    const { snapshots } = found
    const stored = snapshots.snapshots.length
      ? {
          draft: await files.receive(Buffer.from(JSON.stringify(snapshots)), 'application/json'),
          artifactId: ArtifactId.create(),
        }
      : null
    return {
      text: found.report,
      data: dataOf(found, depth, stored),
      cost,
      effects: async (tx) => {
        const about = { ...ABOUT, requestId, jobId: job.id }
        if (stored) await files.add(tx, job.owner!, stored.draft, about, stored.artifactId)
        await delivered(tx, { used }, cost)
      },
    }
  }
}

const ABOUT: About = {
  type: 'file',
  filename: 'sources.json',
  title: 'Sources of a research report, as they were read',
  engine: 'svc-core',
  model: SNAPSHOT_MODEL,
}

/** Converts errors that a retry would not change. */
function lastWord(error: unknown): never {
  throw error instanceof AppError && error.kind === 'invalid' ? new GiveUp(error.message) : error
}

export const usedBy = ({ turns, pages }: Findings): Consumption => ({
  promptTokens: turns.reduce((sum, turn) => sum + turn.promptTokens, 0),
  completionTokens: turns.reduce((sum, turn) => sum + turn.completionTokens, 0),
  pages,
})

/** `result_data` (docs/api.md 7). */
const dataOf = (found: Findings, depth: Depth, stored: { draft: { sha256: string }; artifactId: string } | null) => ({
  title: found.title,
  summary: found.summary,
  report: found.report,
  citations: found.citations,
  depth,
  sources_consulted: found.consulted,
  extractive: found.extractive,
  quotations: found.quotations,
  disagreements: found.disagreements,
  verification: { quotations: found.quotations.length, dropped: found.dropped },
  snapshots: stored && { artifact_id: stored.artifactId, sha256: stored.draft.sha256 },
  warnings: found.warnings,
})
