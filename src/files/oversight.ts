import type { AuditLog } from '../audit'
import type { Call, OperatorCaller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { mapPage, pageFields } from '../kernel/page'
import type { Reader, Store, Tx } from '../kernel/store'
import { artifactRows as rows } from './everyones'
import { ArtifactId } from './schema'
import type {
  ArtifactPrune,
  ArtifactSizes,
  ArtifactsPruned,
  OverseenArtifact,
  OverseenArtifacts,
  OverseenArtifactsQuery,
} from './schema-operators'
import type { ArtifactRow } from './table'

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  /** Whose files a word of an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
  /** Removes one artifact, and its bytes once the commit stands, unless another artifact has the same. */
  take(tx: Tx, id: ArtifactId, owner: OwnerScope): Promise<boolean>
}

const BATCH = 100
const DAY_MS = 86_400_000
/** Upper bounds of the ages that sizes are told by, in days. */
const AGES = [1, 7, 30, 90, 365]

/** What operators see and do with the files of everyone: never a link to one, nor what it was made from (dx 2.18). */
export function createFileOversight({ store, clock, audit, ownerNamed, take }: Deps) {
  return { list, get, sizes, prune }

  /** Newest first. Throws 404 for an owner that is none. */
  async function list(query: OverseenArtifactsQuery, whose?: string): Promise<OverseenArtifacts> {
    const page = mapPage(await rows.list(store.read, await scopeOf(whose), query), outline)
    return { artifacts: page.items, ...pageFields(page) }
  }

  async function get(id: string): Promise<OverseenArtifact> {
    const row = ArtifactId.is(id) ? await rows.byId(store.read, id) : undefined
    if (!row) throw notFound('artifact')
    return outline(row)
  }

  /** What is kept, by owner (the largest hundred) and by age. */
  async function sizes(whose?: string): Promise<ArtifactSizes> {
    const owner = await scopeOf(whose)
    const now = clock.now()
    const bounds = AGES.map((days) => now - days * DAY_MS)
    const found = await rows.byAge(store.read, owner, bounds)
    const by_age = [...AGES, null].map((days, place) => {
      const one = found.find(({ age }) => age === place)
      return { up_to_days: days, files: one?.files ?? 0, bytes: one?.bytes ?? 0 }
    })
    return { object: 'artifact_sizes', by_owner: await rows.byOwner(store.read, owner, BATCH), by_age }
  }

  /** Deletes artifacts that were made before a moment, of one owner or of everyone. Throws 404 for an unknown owner. */
  async function prune(
    call: Call<OperatorCaller>,
    { before, owner: whose, count_only }: ArtifactPrune,
  ): Promise<ArtifactsPruned> {
    const owner = await scopeOf(whose)
    const until = Date.parse(before)
    if (count_only) return { object: 'artifact_prune', ...(await rows.totalBefore(store.read, owner, until)) }
    for (let [files, bytes] = [0, 0]; ; ) {
      const gone = await store.write(async (tx) => {
        const some = await rows.someBefore(tx, owner, until, BATCH)
        for (const one of some) if (await take(tx, one.id, one.owner)) await audit.record(tx, call, entryOf(one))
        return some
      })
      if (!gone.length) return { object: 'artifact_prune', files, bytes }
      files += gone.length
      bytes += gone.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    }
  }

  async function scopeOf(whose?: string): Promise<OwnerScope | null> {
    return whose === undefined ? null : ownerNamed(store.read, whose)
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
  expires_at: row.expires_at === null ? null : iso(row.expires_at),
})

const entryOf = ({ id, owner }: Pick<ArtifactRow, 'id' | 'owner'>) => ({
  action: 'artifact.deleted',
  entityType: 'artifact' as const,
  entityId: id,
  scope: owner,
  input: { metadata: { reason: 'pruned' } },
})
