import { PageQuery } from '../kernel/page'
import { JsonObject, oneOf, pageOf, type Static, t } from '../kernel/schema'
import { SkillId } from './ids'
import { SKILL_CATEGORIES } from './manifest'
import { REVIEW_STATUSES, Skill, SkillOutline } from './schema-skill'

export const OperatorSkillQuery = t.Object({
  ...PageQuery.properties,
  status: t.Optional(oneOf(REVIEW_STATUSES)),
  category: t.Optional(oneOf(SKILL_CATEGORIES)),
  owner: t.Optional(
    t.String({ maxLength: 256, description: 'Whose: org or user; server for those that ship with it' }),
  ),
  key: t.Optional(
    t.String({ maxLength: 256, description: 'In place of the owner, a key of theirs: id, prefix or name' }),
  ),
  installed: t.Optional(t.Boolean({ description: 'Those that the owner has installed, not those it made' })),
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
  also_installed: t.Optional(t.Boolean({ description: 'Stops it for everyone who has it, too' })),
})
export const ImportOrder = t.Object({ manifest: JsonObject })
export const Imported = t.Object({ id: SkillId.schema, slug: t.String(), version: t.String(), isNew: t.Boolean() })
export type Imported = Static<typeof Imported>
