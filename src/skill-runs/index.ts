/** Skill runs: install and uninstall hooks of skills, run once and within limits. */
export { registerSkillRuns } from './service'
