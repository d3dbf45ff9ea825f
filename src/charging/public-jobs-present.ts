import type { Files } from '../files'
import type { Artifact } from '../files/schema'
import { type JobRow, statusOf } from '../jobs'
import { iso } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import type { Reader } from '../kernel/store'
import type { Ended } from './public-jobs-kind'
import type { Job } from './public-jobs-schema'

/** A job as callers see it; the address of its file is signed anew each time. */
export async function presentJob(reader: Reader, row: JobRow, files: Pick<Files, 'find'>): Promise<Job> {
  const ended = row.state === 'completed' ? (row.result as Ended | null) : null
  const file = ended?.artifact && row.owner ? await files.find(reader, row.owner, ended.artifact) : null
  const at = (moment: number | null) => (moment === null ? null : iso(moment))
  return {
    id: row.id,
    type: row.type!,
    status: statusOf(row),
    progress: row.progress,
    stage: row.stage,
    attempts: row.attempts,
    result: ended?.artifact ? (file?.url ?? null) : (ended?.text ?? null),
    result_data: ended?.artifact ? { ...ended.data, ...factsOf(file) } : (ended?.data ?? null),
    error: row.error,
    usage: { cost_cents: microToCents(ended?.cost ?? 0) },
    created_at: iso(row.created_at),
    started_at: at(row.started_at),
    completed_at: at(row.completed_at),
  }
}

/** What `result_data` says of a file (contract 7). A deleted one has no address. */
const factsOf = (file: Artifact | null): Record<string, unknown> =>
  file === null
    ? { url: null }
    : {
        url: file.url,
        url_expires_at: file.url_expires_at,
        artifact_id: file.id,
        duration_seconds: file.duration_seconds,
        width: file.width,
        height: file.height,
        mime_type: file.mime_type,
        size_bytes: file.size_bytes,
      }
