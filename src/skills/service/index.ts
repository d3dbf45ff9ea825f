import { accessChanged, memberJoined, orgDeleted } from '../../accounts'
import { subscribe } from '../../events'
import type { OwnerScope, TenantCaller } from '../../kernel/caller'
import type { Reader, Tx } from '../../kernel/store'
import { skillRepository as rows } from '../repository'
import { installRepository as installs, trialRepository as trials } from '../repository-installs'
import { createActivating } from '../runtime-active'
import { createAuthoring } from './author'
import { createDecisions } from './decide'
import { assertMayManage, type SkillDeps } from './deps'
import { createInstalling } from './install'
import { operateSkills } from './operate'
import { createStarters, operateStore } from './operate-store'
import { createEarnings, createRatings, createReading } from './read'
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

/**
 * Cleans up after a deleted org: removes its installations and the skills only it could see. Its public skills stay,
 * because others rely on them.
 */
async function endOwner(tx: Tx, owner: OwnerScope): Promise<void> {
  for (const { id, skillId } of await installs.removeAll(tx, owner)) {
    await installs.countInstalls(tx, skillId, -1)
    await subscribe(tx, { owner, subscriber: 'skill', target: id }, [])
  }
  await trials.forget(tx, owner)
  for (const skillId of await rows.unpublishedOf(tx, owner)) await rows.remove(tx, skillId)
}
