import type { OwnerScope } from '../../kernel/caller'
import type { Tx } from '../../kernel/store'
import { skillRepository as rows } from '../repository'
import { installRepository as installs } from '../repository-installs'
import { trialRepository as trials } from '../repository-trials'

/**
 * An org is gone: what it had installed is no longer installed, and what only it could see is removed. What
 * it published for everyone stays, since others rely on it.
 */
export async function endOwner(tx: Tx, owner: OwnerScope): Promise<void> {
  for (const skillId of await installs.removeAll(tx, owner)) await installs.countInstalls(tx, skillId, -1)
  await trials.forget(tx, owner)
  for (const skillId of await rows.unpublishedOf(tx, owner)) await rows.remove(tx, skillId)
}
