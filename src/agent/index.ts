/** The agent: thinks with an engine, acts with tools, observes, within its limits. */

export { fitHistory } from './history'
export { type Agent, createAgent } from './loop'
export { assembleSystem, createSandbox, type Sandbox, type Voice } from './sandbox'
export { modeOfCall } from './turn'
