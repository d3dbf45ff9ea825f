/** Skill runs: install and uninstall hooks of skills, run once and within limits. */
export { startLostRunsLoop } from './lost-runs-loop'
export { createSkillRuns, type SkillRuns } from './service'
