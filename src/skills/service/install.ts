import { storeAnswer } from '../../idempotency'
import { type Call, type Caller, keyIdOf, ownerOf } from '../../kernel/caller'
import { invalidInput } from '../../kernel/errors'
import type { Tx } from '../../kernel/store'
import { validatorOf } from '../../tools'
import { configTooLarge, skillErrors } from '../errors'
import { type HookDue, type InstallFacts, skillHookDue, skillInstalled, skillUninstalled } from '../events'
import { presentInstallation } from '../present'
import { skillRepository as rows } from '../repository'
import { installRepository as installs } from '../repository-installs'
import { isDelisted, isOwn, runnableVersion, type Viewer } from '../rules'
import { type Installation, InstallationId, type InstallationPatch, type SkillRef } from '../schema'
import type { SkillRow } from '../table'
import { assertMayManage, findVisible, recordSkill, type SkillDeps, viewerOf } from './deps'

/** Maximum size of an installation's settings, because every run sends them to the engine. */
const MAX_CONFIG_BYTES = 16 * 1024

type Hooked = { row: SkillRow; viewer: Viewer; cause: HookDue['cause'] }

/**
 * `POST /skills`. Repeating it changes nothing and returns `isNew: false`. Throws 400 when no skill is named, 404 for a
 * skill the caller may not see or run. `by` is the actor for the audit log.
 */
export function installSkill(
  deps: SkillDeps,
  call: Call,
  ref: SkillRef,
  by: Call<Caller> = call,
): Promise<{ isNew: boolean }> {
  const { store, clock, events, triggers } = deps
  const owner = ownerOf(call.caller)
  return store.write(async (tx) => {
    await assertMayManage(deps, tx, call.caller)
    const { row, viewer } = await findVisible(deps, tx, call.caller, named(ref))
    if (!runnableVersion(row, viewer) || (isDelisted(row) && !isOwn(row, viewer))) throw skillErrors.skillNotFound()
    const { userId: user_id } = call.caller
    const id = InstallationId.create()
    const isNew = await installs.insert(tx, {
      id,
      owner,
      skill_id: row.id,
      user_id,
      enabled: true,
      config: {},
      intensity: 1,
      priority: 0,
      api_key_id: keyIdOf(call.caller),
      next_run_at: null,
      failures: 0,
      installed_at: clock.now(),
    })
    if (isNew) {
      // The author deleted the skill meanwhile, so the installation must not remain.
      if (!(await installs.countInstalls(tx, row.id, 1))) throw skillErrors.skillNotFound()
      const [metadata, output] = [{ version: row.version }, { status: 201 }]
      await recordSkill(deps, tx, by, row, { action: 'skill.installed', metadata, output }, owner)
      await events.emit(tx, skillInstalled, owner, factsOf(row, call))
      await hookDue(deps, tx, call, { row, viewer, cause: 'install' })
      await triggers.follow(tx, owner, id)
      tx.afterCommit(() => deps.changed(owner))
    }
    await storeAnswer(tx, call, { installed: true }, isNew ? 201 : 200)
    return { isNew }
  })
}

/** Removes an installation. Throws 404 when the skill is not installed, whether or not the skill exists. */
export function uninstallSkill(
  deps: SkillDeps,
  call: Call,
  ref: SkillRef,
  by: Call<Caller> = call,
): Promise<{ uninstalled: true }> {
  const { store, events, triggers } = deps
  const owner = ownerOf(call.caller)
  return store.write(async (tx) => {
    await assertMayManage(deps, tx, call.caller)
    const row = await rows.byRef(tx, named(ref))
    const gone = row && (await installs.remove(tx, owner, row.id))
    if (!row || !gone) throw skillErrors.notInstalled()
    await installs.countInstalls(tx, row.id, -1)
    const metadata = { version: row.version }
    await recordSkill(deps, tx, by, row, { action: 'skill.uninstalled', metadata }, owner)
    await events.emit(tx, skillUninstalled, owner, factsOf(row, call))
    const viewer = await viewerOf(deps, tx, call.caller)
    await triggers.follow(tx, owner, gone.id)
    if (gone.enabled) await hookDue(deps, tx, call, { row, viewer, cause: 'uninstall' })
    tx.afterCommit(() => deps.changed(owner))
    return { uninstalled: true }
  })
}

/** Emits `skill.hook_due` when the caller's version has a prompt for `cause`. Suspended skills have no hooks. */
async function hookDue({ events }: SkillDeps, tx: Tx, call: Call, { row, viewer, cause }: Hooked): Promise<void> {
  const versionId = runnableVersion(row, viewer)
  const hooks = versionId ? (await rows.version(tx, versionId))?.manifest.hooks : undefined
  const prompt = cause === 'install' ? hooks?.onInstall : hooks?.onUninstall
  if (!prompt?.trim()) return
  await events.emit(tx, skillHookDue, ownerOf(call.caller), { call, skill: row, cause, prompt })
}

/** `PATCH /skills/{id}/installation`. Throws 400 for a config that is too large or violates the skill's schema. */
export function configureInstallation(
  deps: SkillDeps,
  call: Call,
  id: string,
  patch: InstallationPatch,
): Promise<Installation> {
  const { store, triggers } = deps
  const owner = ownerOf(call.caller)
  return store.write(async (tx) => {
    await assertMayManage(deps, tx, call.caller)
    const row = await rows.byRef(tx, id)
    const before = row && (await installs.find(tx, owner, row.id))
    if (!row || !before) throw skillErrors.notInstalled()
    if (patch.config) await assertConfig(row, patch.config)
    const { enabled, config, intensity, priority } = { ...before, ...patch }
    // Enabling the installation resets the failure count of its trigger.
    const failures = patch.enabled ? 0 : before.failures
    const after = await installs.update(tx, owner, row.id, { enabled, config, intensity, priority, failures })
    // The skill was uninstalled meanwhile, because on Postgres the read above locks nothing.
    if (!after) throw skillErrors.notInstalled()
    await triggers.follow(tx, owner, after.id)
    await recordSkill(deps, tx, call, row, { action: 'skill.updated', fields: Object.keys(patch).sort() })
    tx.afterCommit(() => deps.changed(owner))
    return presentInstallation(after, row)

    async function assertConfig({ live_version_id, draft_version_id }: SkillRow, value: Record<string, unknown>) {
      const bytes = Buffer.byteLength(JSON.stringify(value))
      if (bytes > MAX_CONFIG_BYTES) throw configTooLarge(bytes, MAX_CONFIG_BYTES)
      const versionId = live_version_id ?? draft_version_id
      const schema = versionId ? (await rows.version(tx, versionId))?.manifest.configSchema : null
      const problem = schema ? validatorOf(schema)(value) : null
      if (problem) throw invalidInput('config', `"config" does not fit the settings of this skill. ${problem}`)
    }
  })
}

function named({ skillId, slug }: SkillRef): string {
  const ref = skillId ?? slug
  if (ref === undefined) throw skillErrors.nameOne.with({ param: 'skillId' })
  return ref
}

const factsOf = ({ id, slug, version }: SkillRow, { caller }: Call): InstallFacts => ({
  skill_id: id,
  slug,
  version,
  user_id: caller.userId,
})
