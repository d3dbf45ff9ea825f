import type { Call } from '../../kernel/caller'
import { invalidInput } from '../../kernel/errors'
import { reviewFailed, skillNotFound } from '../errors'
import type { SkillManifest } from '../manifest'
import { skillRepository as rows } from '../repository'
import { examineInTurns, hasPassed } from '../review'
import { runnableVersion } from '../rules'
import { type Activation, composeTrial } from '../runtime/active'
import type { SandboxOrder } from '../schema'
import { type SkillDeps, seen } from './deps'

/**
 * What a skill, or a manifest nobody has yet, would bring along for a prompt, with tools that only say they were
 * called. Throws 400 unless one of the two is named, 404, 422 `review_failed` for a manifest that fails its checks.
 */
export const createTrial =
  (deps: SkillDeps) =>
  async (call: Call, order: SandboxOrder): Promise<Activation> => {
    const manifest = await manifestOf(deps, call, order)
    const tools = manifest.tools.map(({ endpoint: _, ...tool }) => tool)
    return composeTrial({ ...manifest, tools }, deps.tools.ofSkill, order.prompt)
  }

async function manifestOf(
  deps: SkillDeps,
  { caller }: Call,
  { skill_id, manifest }: SandboxOrder,
): Promise<SkillManifest> {
  if ((skill_id === undefined) === (manifest === undefined)) {
    throw invalidInput('skill_id', 'Send either "skill_id" or "manifest".')
  }
  if (manifest) {
    const examined = await examineInTurns(manifest)
    const passed = hasPassed(examined.checks)
    if (!examined.manifest || !passed) throw reviewFailed({ ...examined, passed })
    return examined.manifest
  }
  const { row, viewer } = await seen(deps, deps.store.read, caller, skill_id!)
  const versionId = runnableVersion(row, viewer)
  const version = versionId ? await rows.version(deps.store.read, versionId) : undefined
  if (!version) throw skillNotFound()
  return version.manifest
}
