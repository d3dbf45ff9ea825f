import type { OwnerScope, TenantCaller } from '../../kernel/caller'
import type { Reader } from '../../kernel/store'
import { accessChanged, memberJoined, orgDeleted } from '../../orgs'
import { createActivating } from '../runtime/active'
import { createAuthoring } from './author'
import { createDecisions } from './decide'
import { assertMayManage, type SkillDeps } from './deps'
import { createEarnings } from './earnings'
import { endOwner } from './end'
import { createInstalling } from './install'
import { operateSkills } from './operate'
import { operateStore } from './operate-store'
import { createRatings } from './ratings'
import { createReading } from './read'
import { createStarters } from './starters'
import { examineAll, submit, submitInUnit } from './submit'
import { claimTrial, createTrial } from './trial'

export type SkillService = ReturnType<typeof createSkills>

type Deps = Omit<SkillDeps, 'changed'>

/** Skills: written, reviewed, published, installed, rated, and active in runs. */
export function createSkills(given: Deps) {
  const activating = createActivating(given)
  const deps: SkillDeps = { ...given, changed: (owner) => activating.forget(owner as OwnerScope | null) }
  given.events.afterCommit(accessChanged, () => activating.forget(null))
  // Who came into an org has its skills from their next request on.
  given.events.afterCommit(memberJoined, () => activating.forget(null))
  given.events.inTransaction(orgDeleted, async (tx, { scope }) => {
    await endOwner(tx, scope)
    tx.afterCommit(() => activating.forget(null))
  })
  const decisions = createDecisions(deps)
  return {
    activeFor: activating.activeFor,
    toolsOf: activating.toolsOf,
    alone: activating.alone,
    submit: submit(deps),
    /** For a room that publishes in a unit of its own: examine first, outside of it. */
    examine: (manifest: Record<string, unknown>) => examineAll(deps, manifest),
    submitIn: submitInUnit(deps),
    /** For rooms whose things become skills. Throws 403 for an org's key whose maker may no longer manage those. */
    assertMayManage: (db: Reader, caller: TenantCaller) => assertMayManage(deps, db, caller),
    submissions: decisions,
    reading: createReading(deps),
    installing: createInstalling(deps),
    authoring: createAuthoring(deps),
    ratings: createRatings(deps),
    earnings: createEarnings(deps),
    trial: createTrial(deps),
    claimTrial: claimTrial(deps),
    operator: operateSkills(deps, decisions),
    store: operateStore(deps, decisions),
    /** The skills that ship with the server, put into its store once. */
    openStarters: createStarters(deps),
  }
}
