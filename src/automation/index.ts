/** What runs by itself: workflows, canvases, hooks, skill runs and channels. */
export { createCanvases } from './canvases/service'
export { createChannels } from './channels'
export { createHooks } from './hooks/service'
export { createSkillRuns } from './skill-runs'
export { registerPrompts } from './skill-runs-prompts'

export { registerTriggers } from './skill-runs-triggers'
export { createWorkflows } from './workflows/service'
