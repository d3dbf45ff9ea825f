/** Workflows: steps that follow a trigger, one after the other, through crashes, waits and people's decisions. */
export { createWorkflows } from './service'
