/** Traffic: the newest requests and counts a minute, of every process, for operators who look at them. */

export { createTraffic, type RequestLine, type Traffic } from './service'
export { createTraces, type TracedStep, type Traces } from './traces'
