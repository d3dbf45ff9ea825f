import { subscribe } from '../../events'
import type { OwnerScope } from '../../kernel/caller'
import type { Tx } from '../../kernel/store'
import { skillRepository as rows } from '../repository'
import { installRepository as installs } from '../repository-installs'
import { trialRepository as trials } from '../repository-trials'

/**
 * Cleans up after a deleted org: removes its installations and the skills only it could see. Its public skills stay,
 * because others rely on them.
 */
export async function endOwner(tx: Tx, owner: OwnerScope): Promise<void> {
  for (const { id, skillId } of await installs.removeAll(tx, owner)) {
    await installs.countInstalls(tx, skillId, -1)
    await subscribe(tx, { owner, subscriber: 'skill', target: id }, [])
  }
  await trials.forget(tx, owner)
  for (const skillId of await rows.unpublishedOf(tx, owner)) await rows.remove(tx, skillId)
}
