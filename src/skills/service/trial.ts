import { type Call, ownerOf } from '../../kernel/caller'
import { invalidInput } from '../../kernel/errors'
import { reviewFailed, skillNotFound, tooManyTrials } from '../errors'
import type { SkillManifest } from '../manifest'
import { skillRepository as rows } from '../repository'
import { trialRepository as trials } from '../repository-installs'
import { examineInTurns, hasPassed } from '../review'
import { runnableVersion } from '../rules'
import { type Activation, composeTrial } from '../runtime'
import type { SandboxInput } from '../schema'
import { type SkillDeps, seen } from './deps'

/**
 * The activation for a sandbox run of a stored skill or a given manifest. Its tools are only acknowledged. Throws 400
 * unless exactly one is named, 404, 422 `review_failed` for a manifest that fails its checks.
 */
export async function trialOf(deps: SkillDeps, call: Call, input: SandboxInput): Promise<Activation> {
  const manifest = await manifestOf(deps, call, input)
  const tools = manifest.tools.map(({ endpoint: _, ...tool }) => tool)
  return composeTrial({ ...manifest, tools }, deps.tools.ofSkill, input.prompt)
}

const DAY_MS = 24 * 60 * 60_000

/** Counts one sandbox run of the owner before it starts. Throws 429 `rate_limit_exceeded`. */
export async function claimTrial({ store, clock, settings }: SkillDeps, { caller }: Call): Promise<void> {
  const max = settings.sandboxRunsPerDay
  const now = clock.now()
  const day = Math.floor(now / DAY_MS)
  if (await store.write((tx) => trials.claim(tx, ownerOf(caller), day, max))) return
  const retryAfterS = Math.max(1, Math.ceil(((day + 1) * DAY_MS - now) / 1000))
  throw tooManyTrials.with({ retryAfterS }, max, retryAfterS)
}

async function manifestOf(
  deps: SkillDeps,
  { caller }: Call,
  { skill_id, manifest }: SandboxInput,
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
