import { and, asc, desc, eq, lt, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { pagesBy, type Wanted } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import type { Reader } from '../kernel/store'
import type { ArtifactId, ArtifactType } from './schema'
import { type ArtifactRow, artifacts } from './table'

const newestFirst = pagesBy(artifacts, 'created_at')
const files = sql<number>`count(*)`.mapWith(Number)
const ofOwner = (t: typeof artifacts.sqlite, owner: OwnerScope | null) =>
  owner === null ? undefined : eq(t.owner, owner)
const bytesOf = (t: typeof artifacts.sqlite) => sql<number>`coalesce(sum(${t.size_bytes}), 0)`.mapWith(Number)

/** Artifacts of one owner or, for operators only, of all (null). */
export const artifactRows = {
  list(
    db: Reader,
    owner: OwnerScope | null,
    { type, ...wanted }: Wanted & { type?: ArtifactType | undefined },
  ): Promise<Page<ArtifactRow>> {
    const t = db.of(artifacts)
    return newestFirst(db, wanted, ofOwner(t, owner), type && eq(t.type, type))
  },

  async byId(db: Reader, id: ArtifactId): Promise<ArtifactRow | undefined> {
    const t = db.of(artifacts)
    return (await db.select().from(t).where(eq(t.id, id)).limit(1))[0] as ArtifactRow | undefined
  },

  byOwner(db: Reader, owner: OwnerScope | null, limit: number) {
    const t = db.of(artifacts)
    const bytes = bytesOf(t)
    const found = db.select({ owner: t.owner, files, bytes }).from(t).where(ofOwner(t, owner))
    return found.groupBy(t.owner).orderBy(desc(bytes), asc(t.owner)).limit(limit)
  },

  /** `age` is how many of the bounds, newest first, a file is older than. */
  byAge(db: Reader, owner: OwnerScope | null, bounds: readonly number[]) {
    const t = db.of(artifacts)
    const older = bounds.map((bound) => sql`case when ${t.created_at} < ${bound} then 1 else 0 end`)
    const age = sql<number>`${sql.join(older, sql` + `)}`.mapWith(Number)
    const each = db
      .select({ age: age.as('age'), size: t.size_bytes })
      .from(t)
      .where(ofOwner(t, owner))
      .as('each')
    const bytes = sql<number>`coalesce(sum(${each.size}), 0)`.mapWith(Number)
    return db
      .select({ age: sql<number>`${each.age}`.mapWith(Number), files, bytes })
      .from(each)
      .groupBy(sql`${each.age}`)
  },

  async totalBefore(db: Reader, owner: OwnerScope | null, before: number) {
    const t = db.of(artifacts)
    const found = db.select({ files, bytes: bytesOf(t) }).from(t)
    return (await found.where(and(ofOwner(t, owner), lt(t.created_at, before))))[0]!
  },

  someBefore(db: Reader, owner: OwnerScope | null, before: number, limit: number) {
    const t = db.of(artifacts)
    const found = db.select({ id: t.id, owner: t.owner, size_bytes: t.size_bytes }).from(t)
    return found
      .where(and(ofOwner(t, owner), lt(t.created_at, before)))
      .orderBy(asc(t.created_at))
      .limit(limit)
  },
}
