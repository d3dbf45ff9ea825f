import { LRUCache } from 'lru-cache'
import type { Reader } from '../../kernel/store'
import { nextTurn } from '../../kernel/turns'
import { detailsOf } from '../present'
import { skillRepository as rows } from '../repository'
import { isOwn, type Viewer } from '../rules'
import type { SkillDetails, SkillId, VersionId } from '../schema'
import type { ListedRow } from '../table'

/** Size of the cached details as JSON; it holds the most requested pages. */
const MOST_KEPT_CHARS = 16_000_000
/** Manifests read between two turns of the event loop, since they may be long (I28). */
const AT_ONCE = 25

/** Reads the details that lists show besides the row; cached for live versions, which never change. */
export function createDetails() {
  const known = new LRUCache<VersionId, { details: SkillDetails; chars: number }>({
    maxSize: MOST_KEPT_CHARS,
    sizeCalculation: ({ chars }) => chars,
  })

  return async function detailsFor(db: Reader, listed: readonly ListedRow[], viewer: Viewer) {
    const found = new Map<SkillId, SkillDetails>()
    const missing = new Map<VersionId, ListedRow>()
    for (const row of listed) {
      const versionId = await shownOf(db, row, viewer)
      const kept = versionId && !isOwn(row, viewer) ? known.get(versionId) : undefined
      if (kept) found.set(row.id, kept.details)
      else if (versionId) missing.set(versionId, row)
    }
    const ids = [...missing.keys()]
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      if (from > 0) await nextTurn()
      for (const { id, manifest } of await rows.withVersions(db, ids.slice(from, from + AT_ONCE))) {
        const row = missing.get(id)!
        const own = isOwn(row, viewer)
        const details = detailsOf(manifest, own)
        if (!own) known.set(id, { details, chars: JSON.stringify(details).length })
        found.set(row.id, details)
      }
    }
    return found
  }
}

/** The version whose details are shown: the newest one to its owner, else the live one. */
async function shownOf(db: Reader, row: ListedRow, viewer: Viewer): Promise<VersionId | null> {
  if (!isOwn(row, viewer)) return row.live_version_id
  return row.draft_version_id ?? row.live_version_id ?? (await rows.newestVersion(db, row.id))?.id ?? null
}
