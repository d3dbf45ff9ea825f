import type { Static } from '../kernel/schema'
import type { OperatorSkillQuery } from '../skills/schema'

/** Filters of the skill list; `owner` as operators name one (dx 2.1). */
export type OperatorSkillWords = Static<typeof OperatorSkillQuery>
