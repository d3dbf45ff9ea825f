/** What skills do by themselves: their prompts of installing and removing, run once and within limits. */
export { startLostRunsLoop } from './lost-runs-loop'
export { createSkillRuns, type SkillRuns } from './service'
