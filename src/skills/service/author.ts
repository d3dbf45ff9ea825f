import { storeAnswer } from '../../idempotency'
import { type Call, ownerOf } from '../../kernel/caller'
import { invalidInput } from '../../kernel/errors'
import { isUniqueViolation, type Tx } from '../../kernel/store'
import {
  nothingToChange,
  notTheAuthor,
  publishedSkill,
  reviewFailed,
  skillErrors,
  slugTaken,
  suspendedSkill,
  takenDown,
  tooManyDrafts,
  underReview,
} from '../errors'
import { type SkillManifest, warningsOf, withDefaults } from '../manifest'
import { presentSkill } from '../present'
import { skillRepository as rows, submissionRepository as submissions } from '../repository'
import { checkToolNames, type Examined, isReserved, readManifest } from '../review'
import { isOwn, listColumnsOf, type Viewer } from '../rules'
import type { NewSkill, SkillPatch, SkillReply } from '../schema'
import type { SkillRow } from '../table'
import { assertMayManage, findVisible, recordSkill, type SkillDeps } from './deps'
import { examineAll, submitInUnit } from './submit'
import { newSkill, newVersion } from './versions'

/** A manifest that this server can run, with warnings about dropped members. */
type Sound = { manifest: SkillManifest; warnings: string[] }

/** Maximum drafts per owner. All owners share one namespace of slugs, so no owner may reserve slugs in bulk. */
const MAX_DRAFTS = 200

/**
 * `POST /skills/create`. With `is_public` the draft is submitted for review as its first version. Throws 409 for a slug
 * that is taken or reserved and for too many drafts, 422 `review_failed`.
 */
export async function createSkill(deps: SkillDeps, call: Call, input: NewSkill): Promise<SkillReply> {
  const { store } = deps
  const { manifest, warnings } = await draftOf(deps, call, input)
  const examined = input.is_public ? await examineAll(deps, manifest) : null
  try {
    return await store.write(async (tx) => {
      await assertMayManage(deps, tx, call.caller)
      if (isReserved(input.slug) || (await rows.bySlug(tx, input.slug))) throw slugTaken(input.slug)
      const row = examined
        ? await submitted(deps, tx, call, manifest, examined)
        : await drafted(deps, tx, call, manifest)
      await recordSkill(deps, tx, call, row, { action: 'skill.created' })
      tx.afterCommit(() => deps.changed(null))
      const skill = presentSkill(row, manifest, ownView(call))
      return storeAnswer(tx, call, { skill, warnings })
    })
  } catch (error) {
    throw isUniqueViolation(error) ? slugTaken(input.slug) : error
  }
}

async function draftOf(deps: SkillDeps, call: Call, input: NewSkill): Promise<Sound> {
  const { orgs, store } = deps
  const user = await orgs.user(store.read, call.caller.userId)
  const { name, slug, category, description = '', system_prompt_ext, tool_definitions = [] } = input
  return sound(deps, {
    name,
    slug,
    category,
    description,
    version: '1.0.0',
    author: { name: user?.name || 'Author' },
    systemPromptExtension: system_prompt_ext,
    tools: tool_definitions,
  })
}

async function drafted({ clock }: SkillDeps, tx: Tx, { caller }: Call, manifest: SkillManifest): Promise<SkillRow> {
  if ((await rows.draftsOf(tx, ownerOf(caller), MAX_DRAFTS)) >= MAX_DRAFTS) throw tooManyDrafts(MAX_DRAFTS)
  const now = clock.now()
  const ownerFilter = { owner: ownerOf(caller), author_user_id: caller.userId, org_scope_id: null }
  const skill = newSkill(manifest, { ...ownerFilter, visibility: 'private', status: 'draft' }, now)
  const version = newVersion(skill.id, manifest, now)
  await rows.insert(tx, { ...skill, draft_version_id: version.id })
  await rows.insertVersion(tx, version)
  return (await rows.find(tx, skill.id))!
}

async function submitted(
  deps: SkillDeps,
  tx: Tx,
  call: Call,
  manifest: SkillManifest,
  examined: Examined,
): Promise<SkillRow> {
  const outcome = await submitInUnit(deps, tx, call, { manifest, visibility: 'public' }, examined)
  if (!outcome.accepted) throw reviewFailed(outcome.review)
  return (await rows.find(tx, outcome.submission.skillId))!
}

/**
 * `PATCH /skills/{id}`: changes prompt, tools, name or description of a draft or private skill, which becomes a draft
 * again. Throws 403 unless the caller is the author, and 400 for an empty change. Throws 409 once others may use the
 * skill or while a version is under review, because the approved version must equal the reviewed one.
 */
export function patchSkill(deps: SkillDeps, call: Call, ref: string, change: SkillPatch): Promise<SkillReply> {
  const { store, clock } = deps
  return store.write(async (tx) => {
    const row = await ownIn(deps, tx, call, ref, 'change')
    const { name, description, system_prompt_ext, tool_definitions } = change
    const members = Object.entries({ name, description, system_prompt_ext, tool_definitions })
    const fields = members.flatMap(([member, value]) => (value === undefined ? [] : member)).sort()
    if (!fields.length) throw nothingToChange()
    // Refuses changes to versions that are reviewed or under review for others (docs/attacks.md L7).
    if (row.status === 'suspended') throw suspendedSkill()
    const forOthers = row.visibility !== 'private' && row.live_version_id !== null
    if (forOthers || row.status === 'pending_review') throw publishedSkill('changed')
    if (await submissions.pendingOf(tx, row.id)) throw underReview()
    const versionId = row.draft_version_id ?? row.live_version_id ?? (await rows.versions(tx, row.id, 1))[0]!.id
    const before = (await rows.version(tx, versionId))!
    const { manifest, warnings } = sound(deps, {
      ...before.manifest,
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      ...(system_prompt_ext === undefined ? {} : { systemPromptExtension: system_prompt_ext }),
      ...(tool_definitions === undefined ? {} : { tools: tool_definitions }),
    })
    await rows.updateVersion(tx, versionId, { manifest, status: 'pending' })
    const after = await rows.update(tx, row.id, {
      ...listColumnsOf(manifest),
      status: 'draft',
      live_version_id: null,
      draft_version_id: versionId,
      updated_at: clock.now(),
    })
    await recordSkill(deps, tx, call, after, { action: 'skill.updated', fields })
    tx.afterCommit(() => deps.changed(null))
    return { skill: presentSkill(after, manifest, ownView(call)), warnings }
  })
}

/** `DELETE /skills/{id}`: deletes a skill and its installations. Throws 409 if public and approved, or suspended. */
export function removeSkill(deps: SkillDeps, call: Call, ref: string): Promise<{ deleted: true }> {
  const { store } = deps
  return store.write(async (tx) => {
    const row = await ownIn(deps, tx, call, ref, 'delete')
    if (row.live_version_id && row.visibility === 'public') throw publishedSkill('deleted')
    if (row.status === 'suspended') throw takenDown()
    await rows.remove(tx, row.id)
    await recordSkill(deps, tx, call, row, { action: 'skill.deleted' })
    tx.afterCommit(() => deps.changed(null))
    return { deleted: true }
  })
}

async function ownIn(deps: SkillDeps, tx: Tx, call: Call, ref: string, what: string): Promise<SkillRow> {
  const { row, viewer } = await findVisible(deps, tx, call.caller, ref)
  if (!isOwn(row, viewer)) throw notTheAuthor(what)
  await assertMayManage(deps, tx, call.caller)
  // The row as it is under the lock, because the skill may have been approved meanwhile.
  const locked = await rows.lock(tx, row.id)
  if (!locked) throw skillErrors.skillNotFound()
  return locked
}

/** Checks that this server can run the manifest. A draft need not pass the review. Throws 400. */
function sound(deps: SkillDeps, written: Record<string, unknown>): Sound {
  const { manifest, findings, dropped } = readManifest(written)
  const problem = [...findings, ...(manifest ? checkToolNames(manifest) : [])].find(
    ({ severity }) => severity === 'fail',
  )
  if (!manifest || problem) throw invalidInput(problem?.path ?? 'tool_definitions', problem?.message ?? 'is no skill')
  deps.tools.ofSkill('draft', manifest.tools)
  return { manifest: withDefaults(manifest), warnings: warningsOf(dropped, 'tool_definitions') }
}

const ownView = ({ caller }: Call): Viewer => ({ owner: ownerOf(caller), orgIds: [] })
