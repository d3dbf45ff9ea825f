import { PageQuery } from '../kernel/page'
import { JsonObject, oneOf, pageOf, type Static, t } from '../kernel/schema'
import { SkillId } from './ids'
import { SKILL_CATEGORIES } from './manifest'
import { ManifestWarnings } from './schema-review'
import { REVIEW_STATUSES, Skill, SkillOutline } from './schema-skill'

export const OperatorSkillQuery = t.Object({
  ...PageQuery.properties,
  status: t.Optional(oneOf(REVIEW_STATUSES)),
  category: t.Optional(oneOf(SKILL_CATEGORIES)),
  owner: t.Optional(
    t.String({
      maxLength: 256,
      description: 'Owner: an org or a user; `server` for the skills that ship with this server',
    }),
  ),
  key: t.Optional(
    t.String({ maxLength: 256, description: 'Instead of the owner, one of its keys: id, prefix or name' }),
  ),
  installed: t.Optional(
    t.Boolean({ description: 'List the skills the owner has installed instead of those it wrote' }),
  ),
})
export type OperatorSkillQuery = Static<typeof OperatorSkillQuery>

/** Added for operators: the owner, and whether the store shows the skill. */
const operated = { owner: t.String(), listed: t.Boolean() }
export const OperatorSkillEntry = t.Object({ ...SkillOutline.properties, ...operated })
export type OperatorSkillEntry = Static<typeof OperatorSkillEntry>
export const OperatorSkillPage = pageOf('skills', OperatorSkillEntry)
export const OperatorSkill = t.Object({ ...Skill.properties, ...operated, manifest: JsonObject })
export type OperatorSkill = Static<typeof OperatorSkill>

export const Takedown = t.Object({
  also_installed: t.Optional(t.Boolean({ description: 'Also stop the skill for everyone who has it installed' })),
})
export const ImportOrder = t.Object({ manifest: JsonObject })
export const Imported = t.Object({
  id: SkillId.schema,
  slug: t.String(),
  version: t.String(),
  isNew: t.Boolean(),
  warnings: ManifestWarnings,
})
export type Imported = Static<typeof Imported>
