/** The agent: turns a task into thinking by an engine. Tools join the loop in the tools room. */
export { assembleSystem, type Voice } from './context'
export { type Agent, createAgent } from './loop'
