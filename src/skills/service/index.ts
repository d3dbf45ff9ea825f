import { LRUCache } from 'lru-cache'
import { accessChanged, memberJoined, orgDeleted } from '../../accounts'
import { subscribe } from '../../events'
import { bind } from '../../kernel/bind'
import type { OwnerScope } from '../../kernel/caller'
import type { Tx } from '../../kernel/store'
import { skillRepository as rows } from '../repository'
import { installRepository as installs, trialRepository as trials } from '../repository-installs'
import { createActivating } from '../runtime-active'
import { assertMayManage, type SkillDeps } from './deps'
import { installSkill, uninstallSkill } from './install'
import { operateSkills } from './operate'
import { openStarters, operateStore } from './operate-store'
import { claimTrial, getSkill, trialOf } from './read'
import { examineAll, submitInUnit } from './submit'
import { createTriggers, type TriggerDeps } from './triggers'

export type SkillService = ReturnType<typeof createSkills>

type Deps = Omit<SkillDeps, 'changed' | 'triggers' | 'details'> & Pick<TriggerDeps, 'jobs' | 'zoneOf'>

/** Maximum size of the cached details as JSON. It holds the most requested pages. */
const MAX_KEPT_CHARS = 16_000_000

/** All verbs of skills: writing, reviewing, publishing, installing, rating, and activating them in runs. */
export function createSkills(modules: Deps) {
  const activating = createActivating(modules)
  const changed = (owner: string | null) => activating.forget(owner as OwnerScope | null)
  const triggers = createTriggers({ ...modules, changed })
  const deps: SkillDeps = {
    ...modules,
    changed,
    triggers,
    details: new LRUCache({ maxSize: MAX_KEPT_CHARS, sizeCalculation: ({ chars }) => chars }),
  }
  modules.events.afterCommit(accessChanged, () => activating.forget(null))
  // A new member gets the org's skills from their next request on.
  modules.events.afterCommit(memberJoined, () => activating.forget(null))
  modules.events.inTransaction(orgDeleted, async (tx, { scope }) => {
    await endOwner(tx, scope)
    tx.afterCommit(() => activating.forget(null))
  })
  return {
    deps,
    triggers,
    ...activating,
    ...bind(deps, {
      /** For modules that publish in their own transaction. Call it before the transaction begins. */
      examine: examineAll,
      submitIn: submitInUnit,
      /** For modules that publish skills. Throws 403 for an org's key whose creator may no longer manage skills. */
      assertMayManage,
      get: getSkill,
      trial: trialOf,
      claimTrial,
      /** Puts the bundled skills into the store at start. */
      openStarters,
    }),
    installing: bind(deps, { install: installSkill, uninstall: uninstallSkill }),
    operator: operateSkills(deps),
    store: operateStore(deps),
  }
}

/**
 * Cleans up after a deleted org: removes its installations and the skills that only the org could see. Its public
 * skills remain, because others rely on them.
 */
async function endOwner(tx: Tx, owner: OwnerScope): Promise<void> {
  for (const { id, skill_id: skillId } of await installs.removeAll(tx, owner)) {
    await installs.countInstalls(tx, skillId, -1)
    await subscribe(tx, { owner, subscriber: 'skill', target: id }, [])
  }
  await trials.forget(tx, owner)
  for (const skillId of await rows.unpublishedOf(tx, owner)) await rows.remove(tx, skillId)
}
