import type { Static } from '../kernel/schema'
import type { OperatorSkillQuery } from '../skills/schema'

/** What a list of skills is asked for; `owner` as an operator names one (dx 2.1). */
export type OperatorSkillWords = Static<typeof OperatorSkillQuery>
