import { storeAnswer } from '../../idempotency'
import type { Call } from '../../kernel/caller'
import { AppError } from '../../kernel/errors'
import { isLicense } from '../../kernel/license'
import { isUniqueViolation, type Tx } from '../../kernel/store'
import type { SkillId } from '../../skills/schema'
import type { Compilation } from './compile'
import { changedMeanwhile, noLicense } from './errors'
import { versionRepository as versions } from './repository'
import { CanvasVersionId, type Published, type PublishInput, type PublishRefusal } from './schema'
import { type Canvases, compileRow } from './service-deps'
import type { CanvasRow } from './table'

type Compiled = Extract<Compilation, { compiled: true }>
type Outcome = Published | PublishRefusal

/**
 * `POST …/publish` (contract 9.3): compiles the canvas and submits it as a skill, or as a new version of the skill it
 * was published as. One transaction: nothing is stored when the canvas does not compile or pass review. Throws 404,
 * 400 for `org` without an org, 403 for an org the caller may not publish to, 409 while the skill is suspended or
 * when the canvas changed meanwhile, 429.
 */
export const publish = ({ resources: { store, clock }, canvases, skills }: Canvases) => {
  return async (call: Call, id: string, input: PublishInput): Promise<Outcome> => {
    const row = await canvases.find(store.read, call.caller, id)
    const { slug, version, author, readme, license, keywords } = input
    if (license !== undefined && !isLicense(license)) throw noLicense(license)
    const built = compileRow(row, { slug, version, author, ...present({ readme, license, keywords }) })
    if (!built.compiled) return refused(input, { errors: built.problems })
    const unit = await submission(call, row, input, built)
    try {
      return await store.write(unit)
    } catch (error) {
      // The slug was taken between the check and the insert; the second attempt reports that.
      if (isUniqueViolation(error)) return store.write(unit)
      throw error
    }
  }

  /** Does everything outside the transaction first and returns the transaction, which may run twice. */
  async function submission(call: Call, row: CanvasRow, input: PublishInput, built: Compiled) {
    const { visibility = 'private', target_org_id } = input
    const { manifest, steps, warnings } = built
    const examined = await skills.examine(manifest)
    // The skill of an organization's canvas is the organization's, whoever of it publishes it.
    const ownerFilter =
      call.caller.type === 'session' ? { ...call, caller: { ...call.caller, orgId: row.org_id } } : call
    const skill_id = await state(ownerFilter, row.published_skill_id)
    return async (tx: Tx): Promise<Outcome> => {
      const locked = await canvases.findToChange(tx, call.caller, row.id)
      if (locked.updated_at !== row.updated_at) throw changedMeanwhile()
      const outcome = await skills.submitIn(
        tx,
        ownerFilter,
        { manifest, skill_id, visibility, target_org_id },
        examined,
      )
      if (!outcome.accepted) return refused(input, { review: outcome.review })
      const { skillId, ...submitted } = outcome.submission
      const is_public = visibility === 'public'
      const columns = { manifest, steps, status: 'published', published_skill_id: skillId, is_public } as const
      await keepVersion(tx, row, { manifest, visibility, skill_id: skillId, submission_id: submitted.id })
      const metadata = { skill_id: skillId, submission_id: submitted.id, version: manifest.version, visibility }
      await canvases.change(tx, { call, verb: 'published', row: locked }, columns, { metadata })
      const { id, status, reviewTier, autoApproved } = submitted
      return storeAnswer(tx, call, {
        published: true,
        visibility,
        submission: { id, status, reviewTier, autoApproved },
        skillId,
        warnings,
      })
    }
  }

  /** The skill the canvas was published as; null when its author has deleted it. */
  async function state(call: Call, id: SkillId | null): Promise<SkillId | null> {
    if (id === null) return null
    try {
      return (await skills.get(call, id)).id
    } catch (error) {
      if (error instanceof AppError && error.kind === 'missing') return null
      throw error
    }
  }

  async function keepVersion(tx: Tx, { id, graph, graph_bytes }: CanvasRow, about: VersionFacts): Promise<void> {
    await versions.insert(tx, {
      id: CanvasVersionId.create(),
      canvas_id: id,
      version: about.manifest.version,
      graph,
      graph_bytes,
      ...about,
      created_at: clock.now(),
    })
  }
}

type VersionFacts = Pick<
  Parameters<typeof versions.insert>[1],
  'manifest' | 'visibility' | 'skill_id' | 'submission_id'
>

const refused = (
  { visibility = 'private' }: PublishInput,
  why: Pick<PublishRefusal, 'errors' | 'review'>,
): PublishRefusal => ({ published: false, visibility, submission: null, skillId: null, ...why })

/** Drops undefined members. */
const present = <T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
