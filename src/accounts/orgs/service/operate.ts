import { isBeginning } from '../../../kernel/beginning'
import type { Call, OperatorCaller } from '../../../kernel/caller'
import { notFound } from '../../../kernel/errors'
import { OrgId } from '../../../kernel/ids'
import type { Reader } from '../../../kernel/store'
import { ambiguousOrg } from '../errors'
import { accessChanged } from '../events'
import { orgRepository as rows } from '../repository'
import type { OrgRow } from '../table'
import { type OrgDeps, recordOn } from './deps'

/** What operators do with anyone's org. Callers are known to be operators before they get here. */
export function operateOrgs(deps: OrgDeps) {
  const { store, events, clock } = deps
  return { find, setOrgSuspended, all: rows.all, memberCounts: rows.memberCounts }

  /**
   * Finds an org by id, slug, exact name or the beginning of its id; a full id finds deleted orgs too. Throws 404, or
   * 400 when several match.
   */
  async function find(reader: Reader, ref: string): Promise<OrgRow> {
    const exact = OrgId.is(ref) ? await rows.org(reader, ref) : await rows.orgBySlug(reader, ref)
    if (exact) return exact
    const byName = await rows.orgsByName(reader, ref)
    const found = byName.length || !isBeginning(ref) ? byName : await rows.orgsByIdPrefix(reader, ref)
    const slugs = found.map(({ slug }) => slug)
    if (found.length > 1) throw ambiguousOrg(ref, slugs)
    if (!found[0]) throw notFound('organization')
    return found[0]
  }

  /** Suspends an org, which stops all its keys, or resumes it. */
  async function setOrgSuspended(call: Call<OperatorCaller>, orgId: OrgId, suspended: boolean): Promise<void> {
    const now = clock.now()
    await store.write(async (tx) => {
      if (!(await rows.setOrgSuspended(tx, orgId, suspended ? now : null, now))) throw notFound('organization')
      await recordOn(deps, tx, call, orgId, { action: suspended ? 'org.suspended' : 'org.resumed' })
      await events.emit(tx, accessChanged, `org:${orgId}`, { orgId })
    })
  }
}
