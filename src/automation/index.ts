/** Automation: workflows, canvases, hooks, skill runs and channels. */
export { createCanvases } from './canvases'
export { createChannels } from './channels'
export { createHooks } from './hooks'
export { createSkillRuns } from './skill-runs'
export { registerTriggers } from './skill-runs-triggers'
export { createWorkflows } from './workflows'
