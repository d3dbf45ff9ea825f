import { isBeginning } from '../../kernel/beginning'
import type { Call, OperatorCaller } from '../../kernel/caller'
import { notFound } from '../../kernel/errors'
import { OrgId } from '../../kernel/ids'
import type { Reader } from '../../kernel/store'
import { ambiguousOrg } from '../errors'
import { accessChanged } from '../events'
import { orgRepository as rows } from '../repository'
import type { OrgRow } from '../table'
import { type OrgDeps, recordOn } from './deps'

/** What operators do with anyone's org. Who may be an operator is decided before these are reached. */
export function operateOrgs(deps: OrgDeps) {
  const { store, events, clock } = deps
  return { find, setOrgSuspended, all: rows.all, memberCounts: rows.memberCounts }

  /**
   * An org by id, slug, exact name or the beginning of its id; by its id even after it was deleted. Throws 404, or
   * 400 when several match.
   */
  async function find(reader: Reader, ref: string): Promise<OrgRow> {
    const exact = OrgId.is(ref) ? await rows.org(reader, ref) : await rows.orgBySlug(reader, ref)
    if (exact) return exact
    const named = await rows.orgsByName(reader, ref)
    const found = named.length || !isBeginning(ref) ? named : await rows.orgsThatBegin(reader, ref)
    const slugs = found.map(({ slug }) => slug)
    if (found.length > 1) throw ambiguousOrg(ref, slugs)
    if (!found[0]) throw notFound('organization')
    return found[0]
  }

  /** Stops every key of an org, or lets them work again. */
  async function setOrgSuspended(call: Call<OperatorCaller>, orgId: OrgId, suspended: boolean): Promise<void> {
    const now = clock.now()
    await store.write(async (tx) => {
      if (!(await rows.setOrgSuspended(tx, orgId, suspended ? now : null, now))) throw notFound('organization')
      await recordOn(deps, tx, call, orgId, { action: suspended ? 'org.suspended' : 'org.resumed' })
      await events.emit(tx, accessChanged, `org:${orgId}`, { orgId })
    })
  }
}
