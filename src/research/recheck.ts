import type { Files } from '../files'
import type { ArtifactId } from '../files/schema'
import type { Jobs } from '../jobs'
import type { JobId } from '../jobs/schema'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import type { Store } from '../kernel/store'
import type { PublicJobs } from '../public-jobs'
import { notAReport } from './errors'
import type { Verification } from './schema'
import { checkQuotations, type Quotation, type Snapshots } from './snapshots'

type Deps = {
  store: Store
  jobs: Pick<Jobs, 'shown'>
  files: Pick<Files, 'ofOwner' | 'read'>
  publicJobs: Pick<PublicJobs, 'get'>
}

/** The parts of `result_data` that a check needs. */
type Kept = { report: string; quotations: Quotation[]; snapshots: { artifact_id: ArtifactId; sha256: string } | null }

/** Checks a report again, long after, from its snapshots alone: no source is read and no engine is asked. */
export function createRecheck({ store, jobs, files, publicJobs }: Deps) {
  /** Throws 404, and 409 `conflict` for a job that is no completed research. */
  return async function recheck(call: Call<Caller>, id: string): Promise<Verification> {
    const { type, status, result, result_data: data } = await publicJobs.get(call, id)
    if (type !== 'research' || status !== 'completed' || !isReport(data)) throw notAReport(type, status)
    const row = await jobs.shown.find(store.read, null, id as JobId)
    const { snapshots, problems } = await keptOf(data, row!.owner!)
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

  async function keptOf(
    { snapshots: kept }: Kept,
    owner: OwnerScope,
  ): Promise<{ snapshots: Snapshots; problems: string[] }> {
    const nothing: Snapshots = { version: 1, snapshots: [] }
    if (!kept) return { snapshots: nothing, problems: [] }
    const [row] = await files.ofOwner(store.read, owner, { ids: [kept.artifact_id], limit: 1 })
    if (!row) return { snapshots: nothing, problems: ['The file with its snapshots no longer exists.'] }
    const bytes = new Uint8Array(await new Response(await files.read(row)).arrayBuffer())
    if (sha256Hex(bytes) !== kept.sha256)
      return { snapshots: nothing, problems: ['The file with its snapshots was changed.'] }
    return { snapshots: JSON.parse(Buffer.from(bytes).toString()) as Snapshots, problems: [] }
  }
}

const isReport = (data: Record<string, unknown> | null): data is Kept & Record<string, unknown> =>
  typeof data?.report === 'string' && Array.isArray(data.quotations)
