import { accessChanged, memberJoined, orgDeleted } from '../../accounts'
import type { OwnerScope, TenantCaller } from '../../kernel/caller'
import type { Reader } from '../../kernel/store'
import { createActivating } from '../runtime-active'
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
import { createTriggers, type TriggerDeps } from './triggers'

export type SkillService = ReturnType<typeof createSkills>

type Deps = Omit<SkillDeps, 'changed' | 'triggers'> & Pick<TriggerDeps, 'jobs' | 'zoneOf'>

/** All verbs of skills: writing, reviewing, publishing, installing, rating, and activating them in runs. */
export function createSkills(given: Deps) {
  const activating = createActivating(given)
  const changed = (owner: string | null) => activating.forget(owner as OwnerScope | null)
  const triggers = createTriggers({ ...given, changed })
  const deps: SkillDeps = { ...given, changed, triggers }
  given.events.afterCommit(accessChanged, () => activating.forget(null))
  // A new member gets the org's skills from their next request.
  given.events.afterCommit(memberJoined, () => activating.forget(null))
  given.events.inTransaction(orgDeleted, async (tx, { scope }) => {
    await endOwner(tx, scope)
    tx.afterCommit(() => activating.forget(null))
  })
  const decisions = createDecisions(deps)
  return {
    triggers,
    activeFor: activating.activeFor,
    onlyNamed: activating.onlyNamed,
    toolsOf: activating.toolsOf,
    knowledgeOf: activating.knowledgeOf,
    everyTool: activating.everyTool,
    alone: activating.alone,
    aloneBySlug: activating.aloneBySlug,
    runnable: activating.runnable,
    submit: submit(deps),
    /** For rooms that publish in their own transaction; call it before the transaction begins. */
    examine: (manifest: Record<string, unknown>) => examineAll(deps, manifest),
    submitIn: submitInUnit(deps),
    /** For rooms that publish skills. Throws 403 for an org's key whose creator may no longer manage skills. */
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
    /** Puts the bundled skills into the store at start. */
    openStarters: createStarters(deps),
  }
}
