/** The agent: thinks with an engine, acts with tools, observes, within its limits. */

export { modeOfCall } from './call-ids'
export { assembleSystem, type Voice } from './context'
export { fitHistory } from './history'
export { type Agent, createAgent } from './loop'
export { createSandbox, type Sandbox } from './sandbox'
