import { and, asc, desc, eq, lt, type SQLWrapper, sql } from 'drizzle-orm'
import type { AuditLog } from '../audit'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { mapPage, pageFields } from '../kernel/page'
import type { Reader, Store } from '../kernel/store'
import { fileRepository as rows } from './repository'
import {
  ArtifactId,
  type ArtifactPrune,
  type ArtifactSizes,
  type ArtifactsPruned,
  type OverseenArtifact,
  type OverseenArtifacts,
  type OverseenArtifactsQuery,
} from './schema'
import type { Files } from './service'
import { type ArtifactRow, artifacts } from './table'

/** What operators see and do with the files of all owners. Excludes links and prompts (docs/operating.md 2.18). */
export type FileOperatorDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  /** The owner that an operator's input names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
  files: Pick<Files, 'take'>
}

const BATCH = 100
const DAY_MS = 86_400_000
/** Upper bounds of the age groups, in days. */
const AGES = [1, 7, 30, 90, 365]

const scopeOf = async ({ store, ownerNamed }: FileOperatorDeps, named: string | undefined) =>
  named === undefined ? null : ownerNamed(store.read, named)

/** Artifacts of all owners or one, newest first, including expired ones. Throws 404 for an unknown owner. */
export async function listArtifacts(
  deps: FileOperatorDeps,
  { type: kind, ...query }: OverseenArtifactsQuery,
  ownerNamed?: string,
): Promise<OverseenArtifacts> {
  const owner = await scopeOf(deps, ownerNamed)
  const page = mapPage(await rows.list(deps.store.read, owner, { ...query, kind }), outline)
  return { artifacts: page.items, ...pageFields(page) }
}

export async function getArtifact({ store }: FileOperatorDeps, id: string): Promise<OverseenArtifact> {
  const row = ArtifactId.is(id) ? await rows.find(store.read, id, {}) : undefined
  if (!row) throw notFound('artifact')
  return outline(row)
}

const files = sql<number>`count(*)`.mapWith(Number)
const sumOf = (column: SQLWrapper) => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number)

/** Stored sizes by owner (the hundred largest) and by age. */
export async function artifactSizes(deps: FileOperatorDeps, ownerNamed?: string): Promise<ArtifactSizes> {
  const db = deps.store.read
  const t = db.of(artifacts)
  const owner = await scopeOf(deps, ownerNamed)
  const ofOwner = owner === null ? undefined : eq(t.owner, owner)
  const now = deps.clock.now()
  const bytes = sumOf(t.size_bytes)
  const byOwner = db.select({ owner: t.owner, files, bytes }).from(t).where(ofOwner).groupBy(t.owner)
  // The number of bounds that a file is older than, which is its age group.
  const older = AGES.map((days) => sql`case when ${t.created_at} < ${now - days * DAY_MS} then 1 else 0 end`)
  const age = sql<number>`${sql.join(older, sql` + `)}`.mapWith(Number).as('age')
  const each = db.select({ age, size: t.size_bytes }).from(t).where(ofOwner).as('each')
  const found = await db
    .select({ age: sql<number>`${each.age}`.mapWith(Number), files, bytes: sumOf(each.size) })
    .from(each)
    .groupBy(sql`${each.age}`)
  const by_age = [...AGES, null].map((days, place) => {
    const one = found.find(({ age }) => age === place)
    return { up_to_days: days, files: one?.files ?? 0, bytes: one?.bytes ?? 0 }
  })
  return { object: 'artifact_sizes', by_owner: await byOwner.orderBy(desc(bytes), asc(t.owner)).limit(BATCH), by_age }
}

/** Deletes artifacts created before a time, of one owner or all. Throws 404 for an unknown owner. */
export async function pruneArtifacts(
  deps: FileOperatorDeps,
  call: Call<Caller>,
  { before, owner: ownerNamed, count_only }: ArtifactPrune,
): Promise<ArtifactsPruned> {
  const { store, audit } = deps
  const owner = await scopeOf(deps, ownerNamed)
  const old = (t: typeof artifacts.sqlite) =>
    and(owner === null ? undefined : eq(t.owner, owner), lt(t.created_at, Date.parse(before)))
  if (count_only) {
    const t = store.read.of(artifacts)
    const found = store.read.select({ files, bytes: sumOf(t.size_bytes) }).from(t)
    return { object: 'artifact_prune', ...(await found.where(old(t)))[0]! }
  }
  for (let [count, bytes] = [0, 0]; ; ) {
    const gone = await store.write(async (tx) => {
      const t = tx.of(artifacts)
      const found = tx.select({ id: t.id, owner: t.owner, size_bytes: t.size_bytes }).from(t).where(old(t))
      const some = await found.orderBy(asc(t.created_at)).limit(BATCH)
      for (const { id, owner: scope } of some) {
        if (!(await deps.files.take(tx, id, scope))) continue
        const entity = { entityType: 'artifact' as const, entityId: id, scope }
        await audit.record(tx, call, {
          action: 'artifact.deleted',
          ...entity,
          input: { metadata: { reason: 'pruned' } },
        })
      }
      return some
    })
    if (!gone.length) return { object: 'artifact_prune', files: count, bytes }
    count += gone.length
    bytes += gone.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  }
}

const outline = (row: ArtifactRow): OverseenArtifact => ({
  id: row.id,
  owner: row.owner,
  type: row.type,
  filename: row.filename,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  model: row.model,
  created: iso(row.created_at),
  expires_at: isoOrNull(row.expires_at),
  request_id: row.request_id,
  job_id: row.job_id,
})
